"""Registrations as the kernels take them, and which one of a campaign counts."""

import datetime as dt
from random import Random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.attempts.contract import DAY_METRICS
from assets.campaigns.contract import CASE, CampaignPairs
from assets.campaigns.registration import Metric, Registration, newest
from assets.contract import schema
from tests.assets.campaigns.campaign_layer import campaign, case, registration


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("objectiveSuccess", ("objectiveSuccess", None)),
        ("primaryValue", ("primaryValue", None)),
        ("reward", ("reward", None)),
        *((f"closing:{metric}", ("closing", metric)) for metric in DAY_METRICS),
        ("score:q-1", ("score", "q-1")),
        ("score:closing:a", ("score", "closing:a")),
        ("score:", ("score", "")),
    ],
)
def test_what_a_metric_is_about(text: str, expected: tuple[str, str | None]) -> None:
    assert Metric.of(text) == expected


@pytest.mark.parametrize("text", ["", "Reward", "reward:", "closing", "closing:cash", "score", "objectiveSuccess "])
def test_what_is_no_metric(text: str) -> None:
    with pytest.raises(ValueError, match="expected objectiveSuccess"):
        Metric.of(text)


def test_a_registration_of_a_row() -> None:
    found = registration(campaign(case("b"), case("a", "z", "u"), metric="score:q", direction="lower_is_better"))
    assert isinstance(found, Registration)
    assert (found.campaign_id, found.tolerance, found.title) == ("cmp-pricing", 0.05, "Planner 2.1 against 2.0")
    assert found.compared == ("score", "q")
    assert not found.higher_is_better
    assert [one["task_id"] for one in found.inventory] == ["t", "u"]


def test_the_cases_are_in_key_order() -> None:
    keys = [(family, company, "t", "s", repeat) for family in "aAéb🎯" for company in "zy" for repeat in (10, 9, 1)]
    Random(1).shuffle(keys)
    cases = registration(campaign(*(case(*key) for key in keys))).cases()
    assert cases.rows() == sorted(keys)
    assert cases.schema == {name: schema(CampaignPairs)[name] for name in CASE}


def row(campaign_id: str, hour: int, uri: str, day: int = 1) -> tuple[str, dt.datetime, str, dt.date]:
    return campaign_id, dt.datetime(2026, 11, day, hour, tzinfo=dt.UTC), uri, dt.date(2026, 11, day)


def test_the_newest_registration_of_each_campaign_counts() -> None:
    first, later, of_other, of_one_moment = row("a", 1, "z"), row("a", 2, "b"), row("b", 9, "x"), row("a", 2, "a")
    on_another_day = row("b", 0, "a", day=2)
    expected = pl.DataFrame(
        [later, on_another_day], schema=["campaign_id", "last_modified", "uri", "landed_on"], orient="row"
    )
    given = [first, later, of_other, of_one_moment, on_another_day]
    for seed in range(10):
        Random(seed).shuffle(given)
        found = newest(pl.LazyFrame(given, schema=expected.columns, orient="row")).collect()
        assert_frame_equal(found, expected)
