"""Predicate on the agreement log: what was agreed in time, by the latest word on it."""

import polars as pl

from assets.attempts.evidence import KEY
from assets.verification.findings import PREDICATE, Finding, reasons


def latest_entries(constraints: pl.LazyFrame, agreements: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE`, `latest_status` and `latest_on_day`: the entry that decides each of the constraints, if any.

    Of the entries with that id up to `by_day` (all where there is none), the latest by (day, position), a null day
    before every other. An entry without a day is not known to be in time, so a `by_day` leaves it out.
    """
    wanted = constraints.select(PREDICATE, *KEY, "agreement_id", "by_day")
    return (
        agreements.rename({"position": "entry"})
        .join(wanted, on=[*KEY, "agreement_id"])
        .filter(pl.col("by_day").is_null() | (pl.col("on_day") <= pl.col("by_day")).fill_null(value=False))
        .sort("on_day", "entry", nulls_last=False)
        .group_by(PREDICATE)
        .agg(latest_status=pl.col("status").last(), latest_on_day=pl.col("on_day").last())
    )


def agreement() -> Finding:
    """The entry that decides has the declared status. Observed: the day of that entry, against the last day allowed."""
    status = pl.col("latest_status")
    return Finding(
        breach=reasons(
            (status.is_null(), "no_agreement"),
            (status != pl.col("agreement_status"), "status_differs"),
        ),
        observed=pl.col("latest_on_day"),
        limit=pl.col("by_day"),
    )
