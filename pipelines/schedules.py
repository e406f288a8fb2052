"""The schedule `nightly`: land yesterday, and look back for late arrivals.

Results follow by their automation condition.
"""

import datetime as dt
from collections.abc import Iterator

import dagster as dg

from pipelines.jobs import landing
from pipelines.partitions import FIRST_DAY


def window(now: dt.datetime, look_back_days: int) -> tuple[dt.date, dt.date]:
    """First and last day that a night lands: yesterday, and `look_back_days` days before it."""
    yesterday = now.astimezone(dt.UTC).date() - dt.timedelta(days=1)
    return max(FIRST_DAY, yesterday - dt.timedelta(days=look_back_days)), yesterday


def nightly(look_back_days: int) -> dg.ScheduleDefinition:
    """02:00 UTC, one run a day of the window: what did not change is neither fetched nor decoded again.

    Not one run over all of them: Dagster takes every partition of a run for new once any of them is, and would score
    them all.
    """

    def requests(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
        first, last = window(context.scheduled_execution_time, look_back_days)
        for number in range((last - first).days + 1):
            day = first + dt.timedelta(number)
            yield dg.RunRequest(run_key=f"{last}/{day}", partition_key=day.isoformat())

    return dg.ScheduleDefinition(
        name="nightly",
        job=landing,
        cron_schedule="0 2 * * *",
        execution_timezone="UTC",
        execution_fn=requests,
        description=f"Land yesterday and the {look_back_days} days before it, for late arrivals.",
        default_status=dg.DefaultScheduleStatus.STOPPED,
    )
