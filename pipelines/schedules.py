"""The schedule `nightly`: land yesterday, and look back for late arrivals.

Results follow by their automation condition.
"""

import datetime as dt

import dagster as dg

from pipelines.jobs import day_range, landing
from pipelines.partitions import FIRST_DAY


def window(now: dt.datetime, look_back_days: int) -> tuple[dt.date, dt.date]:
    """First and last day that a night lands: yesterday, and `look_back_days` days before it."""
    yesterday = now.astimezone(dt.UTC).date() - dt.timedelta(days=1)
    return max(FIRST_DAY, yesterday - dt.timedelta(days=look_back_days)), yesterday


def nightly(look_back_days: int) -> dg.ScheduleDefinition:
    """02:00 UTC, one run over the whole window: what did not change is not fetched again."""

    def request(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        first, last = window(context.scheduled_execution_time, look_back_days)
        return dg.RunRequest(run_key=last.isoformat(), tags=day_range(first, last))

    return dg.ScheduleDefinition(
        name="nightly",
        job=landing,
        cron_schedule="0 2 * * *",
        execution_timezone="UTC",
        execution_fn=request,
        description=f"Land yesterday and the {look_back_days} days before it, for late arrivals.",
        default_status=dg.DefaultScheduleStatus.STOPPED,
    )
