"""Documents in quarantine decoded once more, from the stored bytes: after a decoder or a limit was changed.

Here: which days are decoded again, what left quarantine, and what follows from it. Not here: decoding, and fetching an
object again, which a run does by itself as soon as the object is another one.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

import dagster as dg
import polars as pl

from assets.contract import empty
from assets.landing.contract import Quarantine
from assets.landing.land import Progress
from assets.rulesets.loader import RuleSet
from pipelines import staleness
from pipelines.run import Session, session
from pipelines.settings import Settings
from pipelines.storage.tables import Tables
from pipelines.summary import RunSummary

DOCUMENT = ("uri", "landed_on")
FETCH = "fetch"
"""The stage of what could not be had: there are no bytes to decode."""


@dataclass
class Replayed:
    """What became of the documents that were decoded again; rows of `quarantine` as they were, or are."""

    days: list[dt.date] = field(default_factory=list)
    left: list[dict[str, object]] = field(default_factory=list)  # no longer in quarantine
    changed: list[dict[str, object]] = field(default_factory=list)  # still there, for another reason or elsewhere
    stayed: int = 0  # documents that are there as they were
    without_bytes: list[dict[str, object]] = field(default_factory=list)  # never had, so not decoded
    summary: RunSummary = field(default_factory=RunSummary)


def replay(
    settings: Settings,
    conditions: Sequence[pl.Expr] = (),
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
) -> Replayed:
    """Decode the days of the quarantined documents that meet the conditions again, and score what came of it.

    No artifact is read. The results of the active rule sets and the campaigns follow where anything changed.

    Raises:
        StoreError: a table cannot be read or written.
        RuleSetError: a rule set is malformed.
    """
    with session(settings, (), progress, instance, force=True) as (begun, wanted):
        before = quarantined(begun.tables, conditions)
        bytes_there = before.filter(pl.col("stage") != FETCH)
        found = Replayed(
            days=sorted(set(bytes_there["landed_on"])),
            without_bytes=before.filter(pl.col("stage") == FETCH).to_dicts(),
        )
        begun.bridge = dt.timedelta(days=1)  # these days and no others
        if found.days:
            begun.decode(found.days)
            _told(found, bytes_there, quarantined(begun.tables, ()))
        _follow(begun, found, wanted)
        found.summary = begun.summary
    return found


def quarantined(tables: Tables, conditions: Sequence[pl.Expr]) -> pl.DataFrame:
    """The rows of `quarantine` that meet the conditions, in order."""
    rows = tables.scan(Quarantine) if tables.exists(Quarantine) else empty(Quarantine).lazy()
    return rows.filter(*conditions).collect(engine="streaming").sort("landed_on", "uri", "path", "reason")


def _told(found: Replayed, before: pl.DataFrame, after: pl.DataFrame) -> None:
    """Compare the documents with what is in quarantine now."""
    there = after.join(before.select(DOCUMENT).unique(), on=DOCUMENT, how="semi")
    left = before.join(there, on=DOCUMENT, how="anti")
    other = there.join(before, on=there.columns, how="anti", nulls_equal=True)
    found.left, found.changed = left.to_dicts(), other.to_dicts()
    documents = before.select(DOCUMENT).n_unique()
    found.stayed = documents - left.select(DOCUMENT).n_unique() - other.select(DOCUMENT).n_unique()


def _follow(begun: Session, found: Replayed, wanted: Sequence[RuleSet]) -> None:
    """Score what came out, and what an interrupted replay left behind: results of what was decoded before."""
    begun.force = False
    behind = begun.plan(staleness.decoded_days(begun.tables), wanted).stale
    days = {*found.days, *(one.day for one in behind if one.reason == staleness.INPUTS_CHANGED)}
    if not days:
        return
    begun.summary.days = sorted(days)
    begun.score(sorted(days - set(found.days)), wanted)
    # The bytes are those that were decoded before, so only what came out tells whether results are of it.
    begun.force = bool(found.left or found.changed)
    begun.score(found.days, wanted)
    begun.compare_stale(wanted)
    begun.summary.describe(begun.tables)
