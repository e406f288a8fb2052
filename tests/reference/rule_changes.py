"""What changed between two rule sets, in plain Python, attempt by attempt, from rows of the results tables.

Nothing here knows Polars or the tables' modules; a row is a mapping by column name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
Key = tuple[Any, str]


@dataclass(frozen=True)
class Side:
    """Rows of the results tables under one rule set."""

    verifications: Sequence[Row] = ()
    rewards: Sequence[Row] = ()
    predicate_results: Sequence[Row] = ()


def changes(before: Side, after: Side) -> list[dict[str, Any]]:
    """Every attempt that differs, by day and id, without what is the same for all: the two rule sets."""
    sides = (_by_attempt(before), _by_attempt(after))
    found = (
        _change(key, sides[0].get(key, Side()), sides[1].get(key, Side())) for key in sorted({*sides[0], *sides[1]})
    )
    return [change for change in found if change["changed"]]


def _by_attempt(side: Side) -> dict[Key, Side]:
    rows: dict[Key, tuple[list[Row], list[Row], list[Row]]] = defaultdict(lambda: ([], [], []))
    for part, table in enumerate((side.verifications, side.rewards, side.predicate_results)):
        for row in table:
            rows[row["landed_on"], row["attempt_id"]][part].append(row)
    # Predicates alone are no results of an attempt: there is always a verdict beside them.
    return {key: Side(*parts) for key, parts in rows.items() if parts[0] or parts[1]}


def _change(key: Key, before: Side, after: Side) -> dict[str, Any]:
    old, new = (dict(side.verifications[0]) if side.verifications else {} for side in (before, after))
    paid = [{row["reward_kind"]: row["reward"] for row in side.rewards} for side in (before, after)]
    kinds = {
        kind
        for kind in {*paid[0], *paid[1]}
        if [kind in paid[0], paid[0].get(kind)] != [kind in paid[1], paid[1].get(kind)]
    }
    changed = [name for name in ("class", "primary_value") if old.get(name) != new.get(name)]
    told = {
        f"{name}_{side}": row.get(name)
        for side, row in (("before", old), ("after", new))
        for name in ("class", "reason", "primary_value")
    }
    for side, rewards in zip(("before", "after"), paid, strict=True):
        kind = min(rewards, key=lambda kind: (kind not in kinds, kind), default=None)
        told |= {f"reward_kind_{side}": kind, f"reward_{side}": None if kind is None else rewards[kind]}
    predicates = _responsible(before.predicate_results, after.predicate_results)
    return {
        "attempt_id": key[1],
        "landed_on": key[0],
        "changed": changed + (["reward"] if kinds else []),
        **told,
        "predicates": [id_ for _, _, id_ in predicates],
        "predicate_kinds": [kind for _, kind, _ in predicates],
    }


def _responsible(before: Iterable[Row], after: Iterable[Row]) -> list[tuple[int, str, str]]:
    """Position, kind and id of each predicate that did not stand in the way as often, or not in the same way."""
    balance: Counter[tuple[str, str, str]] = Counter()
    places: dict[tuple[str, str, str], int] = {}
    for rows, weight in ((before, -1), (after, 1)):
        for row in rows:
            if row["outcome"] != "pass":
                outcome = (row["kind"], row["predicate_id"], row["outcome"])
                balance[outcome] += weight
                places[outcome] = min(row["position"], places.get(outcome, row["position"]))
    first: dict[tuple[str, str], int] = {}
    for outcome, weight in balance.items():
        if weight:
            first[outcome[:2]] = min(places[outcome], first.get(outcome[:2], places[outcome]))
    return sorted((position, *predicate) for predicate, position in first.items())
