"""A registered campaign as the kernels take it, and which of several registrations of one campaign counts.

Here: the metric grammar and the registered cases. Not here: how a registration is read (`assets.sources.campaigns`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import polars as pl

from assets.attempts.contract import DAY_METRICS
from assets.campaigns.contract import CASE, CampaignPairs
from assets.contract import schema

OBJECTIVE_SUCCESS, PRIMARY_VALUE, REWARD = "objectiveSuccess", "primaryValue", "reward"
CLOSING, SCORE = "closing", "score"
GRAMMAR = f"{OBJECTIVE_SUCCESS}, {PRIMARY_VALUE}, {REWARD}, {CLOSING}:<day metric> or {SCORE}:<question>"


class Metric(NamedTuple):
    """What is compared: its kind, and the day metric or question that it is about."""

    kind: str
    about: str | None

    @classmethod
    def of(cls, text: str) -> Self:
        """The metric that the text names.

        Raises:
            ValueError: it names none.
        """
        kind, colon, about = text.partition(":")
        plain = text in {OBJECTIVE_SUCCESS, PRIMARY_VALUE, REWARD}
        if not (plain or (kind == CLOSING and about in DAY_METRICS) or (kind == SCORE and colon)):
            raise ValueError(f"expected {GRAMMAR}")
        return cls(kind, about if colon else None)


@dataclass(frozen=True)
class Registration:
    """One row of `campaign_registrations`."""

    campaign_id: str
    campaign_key: str
    registration_digest: str
    title: str | None
    metric: str
    direction: str
    baseline_arm: str
    treatment_arm: str
    expectation: str
    tolerance: float
    inventory: Sequence[Mapping[str, Any]]
    vanished: bool | None = None  # whether it was withdrawn

    @property
    def compared(self) -> Metric:
        """The metric, taken apart."""
        return Metric.of(self.metric)

    @property
    def higher_is_better(self) -> bool:
        """Whether the greater value is the better one."""
        return self.direction == "higher_is_better"

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """From a row by column name; where it came from is left behind."""
        return cls(**{field.name: row[field.name] for field in fields(cls)})

    def cases(self) -> pl.DataFrame:
        """The registered cases in key order: the columns of `CASE`."""
        columns = schema(CampaignPairs)
        return pl.DataFrame(self.inventory, schema={name: columns[name] for name in CASE}).sort(CASE)


def newest_first(registrations: pl.LazyFrame) -> pl.LazyFrame:
    """By campaign, the one that counts first: the latest `last_modified`, then the greatest `uri`.

    Needs `campaign_id`, `last_modified`, `uri` and `landed_on`.
    """
    order = ("last_modified", "uri", "landed_on")
    return registrations.sort("campaign_id", *order, descending=[False, *(True for _ in order)], maintain_order=True)


def newest(registrations: pl.LazyFrame) -> pl.LazyFrame:
    """Of each campaign the registration that counts; in order of campaign."""
    return newest_first(registrations).unique("campaign_id", keep="first", maintain_order=True)
