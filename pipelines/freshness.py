"""Freshness: was the newest day that is over landed and scored by the morning after?

Here: the decision, the check, and the schedule that asks it. Not here: what came on a day (`volume`), and what makes
results stale (`staleness`). Dagster's freshness policies know no partitions, so that a backfill of an old day would
count, and its checks of time partitions would expect today, which is a partition of ours while it lasts.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping

import dagster as dg

from assets.contract import table_name
from assets.landing.contract import RawArtifacts
from assets.rulesets.loader import RuleSet, active
from assets.verification.contract import Verifications
from pipelines.jobs import ASKED_AT_AN_HOUR, FRESH
from pipelines.partitions import day_and_rules
from pipelines.staleness import recipes, stale
from pipelines.storage.tables import Tables

DEADLINE_HOUR = 6
"""UTC; the nightly run starts at two."""

job = dg.define_asset_job(
    "freshness",
    selection=ASKED_AT_AN_HOUR,
    description="Ask whether the newest day that is over was landed, and scored under every active rule set.",
)
schedule = dg.ScheduleDefinition(
    name="freshness",
    job=job,
    cron_schedule=f"0 {DEADLINE_HOUR} * * *",
    execution_timezone="UTC",
    description="Warn in the morning where the nightly run left nothing.",
    default_status=dg.DefaultScheduleStatus.STOPPED,
)


def expected_day(now: dt.datetime) -> dt.date:
    """The newest day that must be there by now: yesterday from the deadline on, before it the day before."""
    return (now.astimezone(dt.UTC) - dt.timedelta(days=1, hours=DEADLINE_HOUR)).date()


def overdue(day: dt.date, updated: dt.datetime | None) -> str | None:
    """What is wrong with a day that was last updated then; a day is whole once it was updated after its end."""
    if updated is None:
        return "never"
    ended = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
    return None if updated >= ended else f"last at {updated:%Y-%m-%dT%H:%M:%SZ}, before the day was over"


def check(rule_sets: Mapping[str, RuleSet], specs: Iterable[dg.AssetSpec]) -> dg.AssetChecksDefinition:
    """The checks of what is landed and of what is scored: a warning, since the rest goes on without them.

    Landed is what Dagster saw being landed, since a day of nothing leaves no row. Scored is what is stored from what is
    stored now: a day to which nothing was added is not scored again.
    """
    ordered, wanted = recipes(specs), [rule_sets[id_] for id_ in active(rule_sets)]
    told = "The newest day that is over was {} by {:02}:00 UTC of the day after."
    names = {table_name(RawArtifacts): "landed", table_name(Verifications): "scored under every active rule set"}

    @dg.multi_asset_check(
        name="freshness_checks",
        specs=[
            dg.AssetCheckSpec(FRESH, asset=asset, description=told.format(how, DEADLINE_HOUR))
            for asset, how in names.items()
        ],
        can_subset=True,
    )
    def freshness(
        context: dg.AssetCheckExecutionContext, tables: dg.ResourceParam[Tables]
    ) -> Iterator[dg.AssetCheckResult]:
        day = expected_day(dt.datetime.now(dt.UTC))
        for key in sorted(context.selected_asset_check_keys):
            asset = key.asset_key.to_user_string()
            if asset == table_name(RawArtifacts):
                problem = overdue(day, updated(context.instance, key.asset_key, day.isoformat()))
                found = {day.isoformat(): [problem]} if problem else {}
            else:
                plan = stale(tables, ordered, wanted, [day], every=False)
                found = {str(day_and_rules(day.isoformat(), one.rules)): [one.reason] for one in plan.stale}
            yield dg.AssetCheckResult(
                asset_key=key.asset_key,
                check_name=key.name,
                passed=not found,
                severity=dg.AssetCheckSeverity.WARN,
                description=told.format(names[asset], DEADLINE_HOUR),
                metadata={"rows": 1, "problems": len(found), "examples": found},
            )

    return freshness


def updated(instance: dg.DagsterInstance, asset: dg.AssetKey, partition: str) -> dt.datetime | None:
    """When the partition was last materialized."""
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[partition])
    records = instance.fetch_materializations(wanted, limit=1).records
    return dt.datetime.fromtimestamp(records[0].timestamp, dt.UTC) if records else None
