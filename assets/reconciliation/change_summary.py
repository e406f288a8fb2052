"""`rule_changes` in a few numbers: how many attempts changed in what, and by which predicate, overall and per campaign.

Here: counting. Not here: which attempts changed (`rule_changes`), and how a person is shown the counts.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from assets.attempts.evidence import KEY


@dataclass(frozen=True)
class ClassChange:
    """Attempts that went from one class to another; null where they have no results under that rule set."""

    before: str | None
    after: str | None
    attempts: int


@dataclass(frozen=True)
class Responsible:
    """Attempts that a predicate changed, perhaps among others."""

    predicate_id: str
    kind: str
    attempts: int


@dataclass(frozen=True)
class Counts:
    """Attempts that changed at all and in what; the most frequent class changes and predicates first."""

    attempts: int = 0
    class_: int = 0
    primary_value: int = 0
    reward: int = 0
    classes: list[ClassChange] = field(default_factory=list)
    predicates: list[Responsible] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    """All changes, and those of each campaign that has any, by id; last, as null, of the attempts of no campaign."""

    overall: Counts
    campaigns: dict[str | None, Counts]


def summary(changes: pl.LazyFrame, attempts: pl.LazyFrame) -> Summary:
    """Count `rule_changes` of one rule set; `attempts` say by `KEY` which campaign an attempt belongs to."""
    told = changes.join(attempts.select(*KEY, "campaign_id"), on=KEY, how="left").select(
        "campaign_id", "changed", "class_before", "class_after", "predicates", "predicate_kinds"
    )
    reclassified = told.filter(pl.col("changed").list.contains("class"))
    responsible = told.explode("predicates", "predicate_kinds").filter(pl.col("predicates").is_not_null())
    counted = pl.collect_all(
        [
            told.group_by("campaign_id").len(),
            told.explode("changed").group_by("campaign_id", "changed").len(),
            reclassified.group_by("campaign_id", "class_before", "class_after").len(),
            responsible.group_by("campaign_id", "predicates", "predicate_kinds").len(),
        ],
        engine="streaming",
    )
    overall = Tally()
    campaigns: dict[str | None, Tally] = defaultdict(Tally)
    for part, frame in enumerate(counted):
        for campaign_id, *what, attempts_ in frame.iter_rows():
            for tally in (overall, campaigns[campaign_id]):
                tally.parts[part][tuple(what)] += attempts_
    ordered = sorted(campaigns, key=lambda id_: (id_ is None, id_ or ""))
    return Summary(overall.counts(), {id_: campaigns[id_].counts() for id_ in ordered})


class Tally:
    """Numbers of attempts: all, by what differs, by class before and after, by predicate and its kind."""

    def __init__(self) -> None:
        self.parts: tuple[Counter[Any], ...] = (Counter(), Counter(), Counter(), Counter())

    def counts(self) -> Counts:
        """What was tallied."""
        attempts, changed, classes, predicates = self.parts
        return Counts(
            attempts=attempts.total(),
            class_=changed["class",],
            primary_value=changed["primary_value",],
            reward=changed["reward",],
            classes=[ClassChange(before, after, number) for (before, after), number in _most_first(classes)],
            predicates=[Responsible(id_, kind, number) for (id_, kind), number in _most_first(predicates)],
        )


def _most_first(counter: Counter[Any]) -> list[tuple[Any, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], tuple(map(str, item[0]))))
