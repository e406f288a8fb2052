"""Small contracts and frames for the tests of storage."""

import datetime as dt
from collections.abc import Mapping, Sequence

import polars as pl

from assets.contract import Contract, column, schema

DAY = dt.date(2026, 11, 29)
NEXT_DAY = dt.date(2026, 11, 30)


class Attempts(Contract):
    """One row per attempt and day."""

    attempt_id: str = column("Who")
    landed_on: dt.date = column("When")
    decisions: int = column("How many decisions", nullable=True, ge=0)
    seconds: float = column("How long", nullable=True)

    class Config(Contract.Config):
        """Partitioned by day."""

        name = "attempts"
        unique = ["attempt_id", "landed_on"]  # noqa: RUF012 - pandera's way
        metadata = {"partition_by": ("landed_on",)}  # noqa: RUF012 - pandera's way


class Scores(Contract):
    """One row per attempt, rule set and day."""

    attempt_id: str = column("Who")
    rules: str = column("Under which rules")
    landed_on: dt.date = column("When")
    score: float = column("How good", nullable=True)
    failed: list[str] = column("Which predicates failed", nullable=True)

    class Config(Contract.Config):
        """Partitioned by day and rule set."""

        name = "scores"
        unique = ["attempt_id", "rules", "landed_on"]  # noqa: RUF012 - pandera's way
        metadata = {"partition_by": ("landed_on", "rules")}  # noqa: RUF012 - pandera's way


def rows(contract: type[Contract], keys: Mapping[str, object], ids: Sequence[str], **values: object) -> pl.DataFrame:
    """Rows of one partition key, one per id; columns that are not named are null."""
    columns = {"attempt_id": list(ids)} | {name: [value] * len(ids) for name, value in {**keys, **values}.items()}
    declared = schema(contract)
    return pl.DataFrame({name: columns.get(name, [None] * len(ids)) for name in declared}, schema=declared)


def day(value: dt.date = DAY) -> dict[str, object]:
    """The partition key of one day."""
    return {"landed_on": value}


def scored(rules: str, value: dt.date = DAY) -> dict[str, object]:
    """The partition key of one day under one rule set."""
    return {"landed_on": value, "rules": rules}
