"""What has to be computed again: what a partition would come from now, against what its commit says it came from.

Here: how the tables of the results layer depend on each other, as the assets declare it, and the partitions that are
stale, computed from what is stored and never from what ran. Not here: reading what commits say (`storage.provenance`),
and skipping inside a step (`ledger`).
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import dagster as dg

from assets.attempts.contract import PARTS, Attempts
from assets.attempts.inputs import NOTHING, Inputs, Together
from assets.contract import Contract, table_name
from assets.fingerprint import fingerprint
from assets.rulesets.loader import RuleSet, after_predecessors
from assets.table_asset import BY_PREDECESSOR
from assets.tables import LAYERS, TABLES, layer
from assets.verification.contract import Verifications
from pipelines.storage.provenance import Provenance, Values, of_inputs
from pipelines.storage.tables import Tables

FORCED, INPUTS_CHANGED, NOT_COMPUTED = "forced", "the inputs changed", "not computed yet"

Noted = Callable[[str, Values], Provenance | None]
"""What the newest commit of a table's partition says of it."""


class Recipe(NamedTuple):
    """How a table of the results layer comes about."""

    table: str
    code_version: str
    inputs: tuple[str, ...]
    by_predecessor: bool  # whether it also reads its inputs of the rule set's predecessor


class Part(NamedTuple):
    """One input of a partition, and whether the partition cannot do without it."""

    label: str
    table: str
    values: Values
    needed: bool = True


class Stale(NamedTuple):
    """A day under a rule set of which some table is not what it would be, and why not."""

    day: dt.date
    rules: str
    tables: tuple[str, ...]
    reason: str  # of the first of them: see `difference`
    inputs: str = ""  # fingerprint of what they would come from


class Plan(NamedTuple):
    """The partitions of the results layer that are stale, newest day first, and those that are not, and why."""

    stale: list[Stale]
    fresh: int
    without_attempts: int


def recipe(spec: dg.AssetSpec) -> Recipe:
    """How an asset of the results layer comes about, as it declares it."""
    return Recipe(
        spec.key.to_user_string(),
        spec.code_version or "",
        tuple(sorted(dep.asset_key.to_user_string() for dep in spec.deps)),
        bool(spec.metadata.get(BY_PREDECESSOR)),
    )


def recipes(specs: Iterable[dg.AssetSpec]) -> list[Recipe]:
    """The recipes of the results layer, each after those that it depends on."""
    known = {spec.key.to_user_string(): recipe(spec) for spec in specs}
    ordered: dict[str, Recipe] = {}

    def visit(name: str) -> None:
        if name in ordered or layer(name) != "results":
            return
        for given in known[name].inputs:
            visit(given)
        ordered[name] = known[name]

    for contract in LAYERS["results"]:
        visit(table_name(contract))
    return list(ordered.values())


def parts(made: Recipe, day: str, rules: RuleSet) -> Iterator[Part]:
    """Everything that a partition is computed from."""
    for table in made.inputs:
        if layer(table) != "results":
            yield Part(table, table, (day,))
            continue
        yield Part(table, table, (day, rules.id))
        if made.by_predecessor and rules.predecessor:
            yield Part(f"{table} of {rules.predecessor}", table, (day, rules.predecessor), needed=False)


def expected(made: Recipe, day: str, rules: RuleSet, noted: Noted) -> Provenance | list[str]:
    """What the partition would come from now, or the inputs that it cannot do without and that are not there."""
    given = {part: noted(part.table, part.values) for part in parts(made, day, rules)}
    missing = [part.label for part, found in given.items() if found is None and part.needed]
    if missing:
        return missing
    inputs = of_inputs({part.label: found for part, found in given.items()})
    return Provenance(made.code_version, rules.digest, inputs, rules.status)


def difference(held: Provenance | None, would: Provenance) -> str:
    """Why a partition is stale, or an empty text."""
    if held is None:
        return NOT_COMPUTED
    if held.rule_set != would.rule_set:
        return "the rule set changed"
    if held.code_version != would.code_version:
        return "the code changed"
    return INPUTS_CHANGED if held.inputs != would.inputs else ""


def stale(
    tables: Tables, ordered: Sequence[Recipe], rule_sets: Iterable[RuleSet], days: Iterable[dt.date], *, every: bool
) -> Plan:
    """Which of these days are stale under which of these rule sets.

    Args:
        tables: where the results are, and the attempts.
        ordered: every recipe of the results layer, each after those that it depends on.
        rule_sets: the rule sets in question.
        days: the days in question.
        every: take the fresh ones too.
    """
    named = {table for made in ordered for table in (made.table, *made.inputs)}
    stored = {table: tables.provenance(TABLES[table]) for table in sorted(named)}
    coming: dict[tuple[str, Values], Provenance] = {}
    found, fresh, without = [], 0, 0

    def noted(table: str, values: Values) -> Provenance | None:
        return coming.get((table, values)) or stored[table].get(values)

    for rules in after_predecessors(rule_sets):
        for day in sorted(set(days), reverse=True):
            changed: list[tuple[str, str, str]] = []
            for made in ordered:
                would = expected(made, day.isoformat(), rules, noted)
                if not isinstance(would, Provenance):
                    break
                values = (day.isoformat(), rules.id)
                coming[made.table, values] = would
                held = stored[made.table].get(values)
                if reason := difference(held, would) or (every and FORCED):
                    changed.append((made.table, reason, would.inputs))
            else:
                fresh += not changed
                if changed:
                    names, reasons, inputs = zip(*changed, strict=True)
                    found.append(Stale(day, rules.id, names, reasons[0], fingerprint(inputs)))
                continue
            without += 1
    return Plan(sorted(found, key=lambda one: (-one.day.toordinal(), one.rules)), fresh, without)


def outdated(tables: Tables, ordered: Sequence[Recipe], rules: RuleSet, days: Iterable[dt.date]) -> list[dt.date]:
    """Those of the days that have results under this rule set, of which some are stale."""
    there = tables.provenance(Verifications)
    found = stale(tables, ordered, [rules], days, every=False).stale
    return sorted(one.day for one in found if (one.day.isoformat(), rules.id) in there)


def decoded_days(tables: Tables) -> set[dt.date]:
    """Every day that the attempts layer has, those without a single attempt included."""
    return {dt.date.fromisoformat(values[0]) for values in tables.provenance(Attempts)}


def undecoded(tables: Tables, specs: Iterable[dg.AssetSpec], inputs: Inputs) -> dict[Together, list[dt.date]]:
    """By tables the days of which some of these is not stored as it would be; a day of nothing is stored as no rows.

    Args:
        tables: where they are.
        specs: the assets, with their code versions.
        inputs: by tables that are written together what each day would be computed from: a fingerprint.
    """
    versions = {spec.key.to_user_string(): spec.code_version or "" for spec in specs}

    def due(contracts: Sequence[type[Contract]], given: Mapping[dt.date, str]) -> list[dt.date]:
        stored = [(tables.provenance(contract), versions[table_name(contract)]) for contract in contracts]
        filled = {day for contract in contracts for (day,), rows in tables.rows(contract).items() if rows}

        def complete(day: str, inputs_of_day: str) -> bool:
            if inputs_of_day == NOTHING:
                return day not in filled
            held = [(found.get((day,)), version) for found, version in stored]
            return all(one is not None and one.origin == (version, "", inputs_of_day) for one, version in held)

        return [day for day, inputs_of_day in given.items() if not complete(day.isoformat(), inputs_of_day)]

    return {contracts: due(contracts, given) for contracts, given in inputs.items()}


def undecoded_days(tables: Tables, specs: Iterable[dg.AssetSpec], inputs: Inputs) -> list[dt.date]:
    """The days of which some table is not stored as it would be, in order."""
    return sorted(set().union(*undecoded(tables, specs, inputs).values()))


def sizes_of_days(tables: Tables) -> dict[dt.date, int]:
    """Rows of the attempts layer per day, all its tables together."""
    sizes: dict[dt.date, int] = {}
    for contract in PARTS:
        for (day,), rows in tables.rows(contract).items():
            sizes[dt.date.fromisoformat(day)] = sizes.get(dt.date.fromisoformat(day), 0) + rows
    return sizes
