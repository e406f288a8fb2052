"""The nightly window: yesterday and the look-back, in UTC."""

import datetime as dt
from pathlib import Path

import dagster as dg
import pytest

from pipelines.build import build_definitions
from pipelines.schedules import window
from pipelines.settings import Settings

AT = dt.datetime(2026, 11, 30, 2, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("now", "days", "first", "last"),
    [
        (AT, 7, dt.date(2026, 11, 22), dt.date(2026, 11, 29)),
        (AT, 0, dt.date(2026, 11, 29), dt.date(2026, 11, 29)),
        (AT.astimezone(dt.timezone(dt.timedelta(hours=-8))), 0, dt.date(2026, 11, 29), dt.date(2026, 11, 29)),
        (dt.datetime(2020, 1, 3, tzinfo=dt.UTC), 7, dt.date(2020, 1, 1), dt.date(2020, 1, 2)),
    ],
)
def test_the_window(now: dt.datetime, days: int, first: dt.date, last: dt.date) -> None:
    assert window(now, days) == (first, last)


@pytest.mark.parametrize(("look_back_days", "first"), [(7, 22), (0, 29)])
def test_a_night_is_one_run_a_day_of_the_window(tmp_path: Path, look_back_days: int, first: int) -> None:
    where = Settings(str(tmp_path), str(tmp_path), tmp_path, look_back_days=look_back_days)
    repository = build_definitions(where).get_repository_def()
    context = dg.build_schedule_context(scheduled_execution_time=AT, repository_def=repository)
    requests = repository.get_schedule_def("nightly").evaluate_tick(context).run_requests
    assert requests is not None
    assert [one.partition_key for one in requests] == [f"2026-11-{day}" for day in range(first, 30)]
    assert len({one.run_key for one in requests}) == len(requests)
