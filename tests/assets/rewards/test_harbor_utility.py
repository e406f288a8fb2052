import datetime as dt
import itertools
from typing import Any

import pytest

from tests.assets.verification.layer import DAY, attempt, days, frames, rewarded

HARBOR = {
    "has_evidence": False,
    "shape": "harbor",
    "recorded_verified": True,
    "recorded_eligible": True,
    "recorded_primary_value": 0.0,
}


def reward(metric: str, value: float | None, **columns: Any) -> dict[str, Any]:
    made = attempt([], **HARBOR | {"primary_metric": metric, "recorded_primary_value": value} | columns)
    return rewarded(frames(made)).row(0, named=True)


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        ("net_assets", 250_000.0, 1.1),
        ("net_cash", -1_000_000.0, 0.75),
        ("operating_margin", 0.0, 1.0),
        ("recovery", -50.0, 0.8333333333333334),
        ("recovery", 0.0, 1.0),
        ("active_paying_accounts", 100.0, 1.25),
        ("retained_accounts", 300.0, 1.375),
    ],
)
def test_the_utility_of_a_primary_value(metric: str, value: float, expected: float) -> None:
    found = reward(metric, value)
    assert found["reward"] == pytest.approx(expected, abs=1e-15)
    assert (found["eligible"], found["verified"], found["primary_value"]) == (1, 1, value)
    assert (found["reward_kind"], found["reward_transform_version"]) == ("worldseq-harbor-utility/1", 1)
    assert found["reason"] is None


def test_the_utility_keeps_the_order_of_a_task_and_stays_within_its_bounds() -> None:
    values = [-1e13, -1e9, -2.0, -1.0, 0.0, 1.0, 2.0, 1e9, 1e9 + 1, 1e13]
    rewards = [reward("net_assets", value)["reward"] for value in values]
    assert all(smaller < greater for smaller, greater in itertools.pairwise(rewards))
    assert rewards[0] > 0.5
    assert rewards[-1] < 1.5


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"recorded_eligible": False}, (0.0, 0, 1, 5.0, 1, "recorded_ineligible")),
        ({"recorded_verified": False}, (None, None, 0, 5.0, None, "recorded_unverified")),
        ({"finalization_status": "failed"}, (None, None, 0, 5.0, None, "not_finalized")),
        ({"shape": "summary", "finalization_status": None}, (None, 1, 1, 5.0, None, "not_finalized")),
        ({"shape": "summary", "recorded_eligible": False}, (None, 0, 1, 5.0, None, "not_finalized")),
        ({"shape": "summary", "recorded_verified": False}, (None, None, 0, 5.0, None, "recorded_unverified")),
        ({"recorded_primary_value": None}, (None, 1, 1, None, None, "primary_value_unavailable")),
        ({"primary_metric": None}, (None, 1, 1, 5.0, None, "primary_value_unavailable")),
        ({"outcome": "agent_failure", "failure_kind": "timeout"}, (None, None, 0, None, None, "timeout")),
    ],
)
def test_who_has_no_reward_and_why(columns: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = reward("net_cash", 5.0, **columns)
    names = ("reward", "eligible", "verified", "primary_value", "reward_transform_version", "reason")
    assert tuple(found[name] for name in names) == expected


def test_an_attempt_with_evidence_is_rewarded_from_it() -> None:
    made = attempt(days(cash_cents=[100, 350]), recorded_primary_value=9.0, horizon_days=1)
    found = rewarded(frames(made)).row(0, named=True)
    assert (found["primary_value"], found["reward"]) == (250.0, pytest.approx(1 + 0.5 * 250 / 1_000_250))


def test_the_recorded_reward_is_the_winners_own_else_the_next_in_precedence() -> None:
    figure = {"field": "reward"}
    told = [
        figure | {"recorded_in": "store/z.json", "shape": "summary", "value": 1.0},
        figure | {"recorded_in": "store/b.json", "shape": "harbor", "value": 2.0},
        figure | {"recorded_in": "store/c.json", "shape": "harbor", "value": 3.0},
        figure | {"recorded_in": "store/d.json", "shape": "finalizer", "value": None, "value_type": "null"},
    ]
    own = figure | {"value": 4.0}

    def recorded(*rows: dict[str, Any]) -> Any:
        return rewarded(frames(attempt(parts={"recorded_values": rows})))["recorded_reward"].item()

    assert recorded(*told) == 3.0
    assert recorded(*told, own) == 4.0
    assert recorded() is None


def test_every_worldseq_attempt_has_one_row_per_day() -> None:
    later = DAY + dt.timedelta(days=1)
    made = frames(
        attempt(attempt_id="b"),
        attempt(attempt_id="a", outcome="infrastructure_failure"),
        attempt(attempt_id="b", landed_on=later),
        attempt(attempt_id="h", source="harbor"),
    )
    assert rewarded(made).select("attempt_id", "landed_on").rows() == [("a", DAY), ("b", DAY), ("b", later)]
