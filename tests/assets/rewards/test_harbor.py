import math
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.attempts.contract import Observations
from assets.contract import schema
from assets.rewards.harbor import recorded_reward, reward_valid, voiding_type
from assets.rulesets.loader import RuleSet
from tests.assets.verification.layer import V1
from tests.assets.verification.trial_layer import exceptions, metrics

Row = dict[str, Any]


def judged(rows: list[Row], rules: RuleSet = V1) -> list[tuple[bool, str | None, float | None]]:
    columns = {name: schema(Observations)[name] for name in ("metrics", "exceptions")}
    return (
        pl.DataFrame(rows, schema=columns)
        .lazy()
        .select(valid=reward_valid(rules), voided_by=voiding_type(rules), reward=recorded_reward())
        .collect(engine="streaming")
        .rows()
    )


def one(rewards: list[Row], *raised: str | tuple[str, bool | None]) -> tuple[bool, str | None, float | None]:
    return judged([{"metrics": rewards, "exceptions": exceptions(*raised)}])[0]


REWARD = metrics(reward=0.5)


@pytest.mark.parametrize(
    "type_", ["AgentTimeoutError", "NonZeroAgentExitCodeError", "NeverHeardOfError", "apierror", ""]
)
def test_what_voids_no_reward(type_: str) -> None:
    assert one(REWARD, type_) == (True, None, 0.5)


@pytest.mark.parametrize("type_", V1.harbor.voiding_exceptions)
def test_what_voids_a_reward(type_: str) -> None:
    assert one(REWARD, type_) == (False, type_, 0.5)


def test_the_file_itself_overrules_the_list() -> None:
    assert one(REWARD, ("ApiError", True)) == (True, None, 0.5)
    assert one(REWARD, ("AgentTimeoutError", False)) == (False, "AgentTimeoutError", 0.5)
    assert one(REWARD, ("ApiError", None)) == (False, "ApiError", 0.5)


def test_each_exception_speaks_for_itself() -> None:
    assert one(REWARD, ("ApiError", True), "CancelledError") == (False, "CancelledError", 0.5)
    assert one(REWARD, "AgentTimeoutError", ("Custom", False), "ApiError") == (False, "Custom", 0.5)


@pytest.mark.parametrize(
    ("rewards", "valid", "reward"),
    [
        ([], False, None),
        (metrics(reward=0.0), True, 0.0),
        (metrics(accuracy=-2.5), True, -2.5),
        (metrics(accuracy=1.0, reward=0.25), True, 0.25),
        (metrics(accuracy=1.0, speed=0.25), True, None),
        (metrics(reward=None), False, None),
        (metrics(reward=1.0, speed=None), False, 1.0),
        (metrics(reward=math.nan), False, math.nan),
        (metrics(reward=1.0, speed=math.inf), False, 1.0),
    ],
)
def test_rewards_must_be_there_and_be_numbers(rewards: list[Row], valid: bool, reward: float | None) -> None:
    found, voided_by, recorded = one(rewards)
    assert (found, voided_by) == (valid, None)
    assert recorded == pytest.approx(reward, nan_ok=True)


def test_the_list_is_that_of_the_rule_set() -> None:
    lenient = msgspec.structs.replace(V1, harbor=msgspec.structs.replace(V1.harbor, voiding_exceptions=("Mine",)))
    rows = [{"metrics": REWARD, "exceptions": exceptions(type_)} for type_ in ("ApiError", "Mine")]
    assert [valid for valid, *_ in judged(rows, lenient)] == [True, False]


def expected(row: Row) -> tuple[bool, str | None]:
    """Validity and the voiding type in plain Python."""
    voiding = (
        one["type"]
        for one in row["exceptions"]
        if (
            one["type"] in V1.harbor.voiding_exceptions
            if one["has_valid_reward"] is None
            else not one["has_valid_reward"]
        )
    )
    voided_by = next(voiding, None)
    numbers = [one["value"] for one in row["metrics"]]
    sound = bool(numbers) and all(number is not None and math.isfinite(number) for number in numbers)
    return sound and voided_by is None, voided_by


NUMBERS = st.one_of(st.none(), st.floats())
TYPES = st.sampled_from(["ApiError", "CancelledError", "AgentTimeoutError", "Unheard"])
ROWS = st.fixed_dictionaries(
    {
        "metrics": st.dictionaries(st.sampled_from(["reward", "a", "b"]), NUMBERS).map(
            lambda values: metrics(**values)
        ),
        "exceptions": st.lists(st.tuples(TYPES, st.sampled_from([None, True, False])), max_size=3).map(
            lambda raised: exceptions(*raised)
        ),
    }
)


@given(st.lists(ROWS, max_size=20))
@settings(max_examples=150, deadline=None)
def test_any_trials_as_in_plain_python(rows: list[Row]) -> None:
    assert [found[:2] for found in judged(rows)] == [expected(row) for row in rows]
