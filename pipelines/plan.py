"""What a rule set would change, before anything is published under it.

The same run as a backfill's, over the same tables, with every write going to a folder that is thrown away: its numbers
are those of the backfill. Here: that run and its figures. Not here: telling people (`cli.rules`).
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

import dagster as dg
import polars as pl

from assets.attempts.contract import Attempts
from assets.campaigns.contract import CampaignComparisons
from assets.landing.land import Progress
from assets.reconciliation.change_summary import Counts, Summary, summary
from assets.reconciliation.contract import RuleChanges
from assets.rulesets.loader import RuleSet, RuleSetError, load_all, select
from assets.verification.contract import Verifications
from pipelines import jobs, staleness
from pipelines.build import table_store
from pipelines.run import Session, session
from pipelines.settings import Settings
from pipelines.storage.overlay import NoReports, overlay
from pipelines.storage.scratch import scratch
from pipelines.storage.tables import Tables


@dataclass(frozen=True)
class Flip:
    """A campaign whose verdict would be another one; null where there is none under the predecessor."""

    campaign_id: str
    before: str | None
    after: str


@dataclass
class RulePlan:
    """What a backfill under a rule set would do."""

    rules: str
    predecessor: str
    days: list[dt.date]
    partitions: int = 0  # days that would be computed
    attempts: int = 0  # attempts of those days
    fresh: int = 0  # days that are complete already
    not_compared: list[dt.date] = field(default_factory=list)  # days without results under the predecessor
    outdated: list[dt.date] = field(default_factory=list)  # days whose results under the predecessor are stale
    changes: Summary = field(default_factory=lambda: Summary(Counts(), {}))
    campaigns: int = 0
    flips: list[Flip] = field(default_factory=list)


def plan(
    settings: Settings,
    rules: str,
    from_day: dt.date | None = None,
    to_day: dt.date | None = None,
    progress: Progress | None = None,
) -> RulePlan:
    """What a backfill under this rule set would compute, and what would change against its predecessor.

    Raises:
        StoreError: a table cannot be read.
        RuleSetError: the rule set is unknown, was changed after its release, or names no predecessor.
        ValueError: the range of days is reversed.
    """
    within = jobs.within(from_day, to_day)
    rule_sets = load_all(settings.rulesets)
    (wanted,) = select(rule_sets, [rules])
    if wanted.predecessor is None:
        raise RuleSetError(f"rule set {rules} names no predecessor: there is nothing to compare it with")
    with scratch() as folder, dg.DagsterInstance.ephemeral() as instance:
        tables = overlay(table_store(settings), str(folder))
        found = RulePlan(rules, wanted.predecessor, within(staleness.decoded_days(tables)))
        both = [wanted.predecessor, wanted.id]
        with session(settings, both, progress, instance, tables=tables, reports=NoReports()) as (begun, _):
            found.outdated = staleness.outdated(tables, begun.recipes, rule_sets[wanted.predecessor], found.days)
            _score(begun, wanted, found)
            _compare(begun, wanted, rule_sets[wanted.predecessor], found)
    return found


def _score(begun: Session, wanted: RuleSet, found: RulePlan) -> None:
    coming = begun.plan(found.days, [wanted])
    sizes = begun.tables.rows(Attempts)
    found.partitions, found.fresh = len(coming.stale), coming.fresh
    found.attempts = sum(sizes.get((one.day.isoformat(),), 0) for one in coming.stale)
    before = begun.tables.provenance(Verifications)
    found.not_compared = [day for day in found.days if (day.isoformat(), found.predecessor) not in before]
    begun.score(found.days, [wanted])
    found.changes = changed(begun.tables, wanted.id, found.days)


def _compare(begun: Session, wanted: RuleSet, predecessor: RuleSet, found: RulePlan) -> None:
    computed = {values[-1] for values in begun.tables.provenance(Verifications)}
    begun.compare_stale([one for one in (predecessor, wanted) if one.id in computed])
    rows = begun.tables.scan(CampaignComparisons).select("campaign_id", "rules", "verdict").collect(engine="streaming")
    before, after = (
        dict(rows.filter(pl.col("rules") == rules.id).select("campaign_id", "verdict").iter_rows())
        for rules in (predecessor, wanted)
    )
    found.campaigns = len(after)
    found.flips = [
        Flip(id_, before.get(id_), verdict) for id_, verdict in sorted(after.items()) if before.get(id_) != verdict
    ]


def changed(tables: Tables, rules: str, days: Sequence[dt.date]) -> Summary:
    """What differs under a rule set from its predecessor, on these days."""
    rows = tables.scan(RuleChanges).filter(pl.col("rules") == rules, pl.col("landed_on").is_in(list(days)))
    return summary(rows, tables.scan(Attempts).filter(pl.col("landed_on").is_in(list(days))))
