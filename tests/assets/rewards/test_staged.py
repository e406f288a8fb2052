import math
import random

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.contract import schema
from assets.rewards.contract import StageScores
from assets.rewards.staged import hidden_sums
from tests.assets.rewards.staged_reference import EXAMPLE, Stages, computed, expected
from tests.assets.verification.layer import V1, frames
from tests.assets.verification.trial_layer import stage_scores, staged_trial, trial


def one(*stages: tuple[float, float | None]) -> tuple[float | None, str | None]:
    return computed([stages])[0]


def test_the_sum_is_added_up_in_declared_order() -> None:
    first, second, third = EXAMPLE
    assert one(first, second, third) == (0.7922, None)
    assert one(first, third, second) == (0.7923, None)


@pytest.mark.parametrize(
    ("value", "reward"),
    [
        (0.00005, 0.0001),
        (4.9999999999999996e-05, 0.0),
        (0.00015, 0.0001),
        (0.00025, 0.0003),
        (0.12344999999999999, 0.1235),
        (0.99995, 1.0),
        (1.0, 1.0),
        (0.0, 0.0),
        (None, 0.0),
    ],
)
def test_rounding_is_half_up_of_the_scaled_sum(value: float | None, reward: float) -> None:
    assert one((1.0, value)) == (reward, None)


def test_many_stages_are_added_one_after_another() -> None:
    chance = random.Random(5)
    terms = [(chance.random(), chance.random()) for _ in range(1_000)]
    hidden = pl.LazyFrame(
        [(0, position, weight, value) for position, (weight, value) in enumerate(terms)],
        schema=["row", "position", "weight", "value"],
        orient="row",
    )
    total = 0.0
    for weight, value in terms:
        total += weight * value
    assert total != math.fsum(weight * value for weight, value in terms)
    assert hidden_sums(hidden.reverse()).collect(engine="streaming")["total"].item() == total


def test_no_reward_is_minus_zero() -> None:
    reward, _ = one((0.5, -0.0), (0.5, -0.0))
    assert math.copysign(1.0, reward or 0.0) == 1.0


def test_a_reward_has_the_same_bits_alone_and_among_others() -> None:
    trials = [((1.0, number / 10_000),) for number in range(10_001)]
    assert [reward for reward, _ in computed(trials)] == [number / 10_000 for number in range(10_001)]


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        (((0.5, 1.0), (0.5, 1.0000000000000002)), "stage_out_of_range"),
        (((0.5, 1.0), (0.5, -5e-324)), "stage_out_of_range"),
        (((1.0, math.inf),), "stage_out_of_range"),
        (((1.0, math.nan),), "stage_out_of_range"),
        (((0.0, 7.0), (1.0, 1.0)), "stage_out_of_range"),
        (((0.5, 1.0), (0.4, 2.0)), "pack_invalid"),
        (((1.5, 1.0), (-0.5, 1.0)), "pack_invalid"),
        (((math.nan, 1.0),), "pack_invalid"),
        (((math.inf, 1.0),), "pack_invalid"),
        ((), "pack_invalid"),
    ],
)
def test_why_there_is_no_reward(stages: Stages, reason: str) -> None:
    assert one(*stages) == (None, reason)


def test_the_rule_set_judges_the_weights_again() -> None:
    stages = ((0.5, 1.0), (0.5 + 5e-10, 1.0))
    strict = msgspec.structs.replace(V1, staged=msgspec.structs.replace(V1.staged, weight_sum_tolerance=1e-10))
    assert computed([stages]) == [(1.0, None)]
    assert computed([stages], strict) == [(None, "pack_invalid")]


def test_the_rule_set_says_how_many_decimals() -> None:
    coarse = msgspec.structs.replace(V1, staged=msgspec.structs.replace(V1.staged, decimals=1))
    assert computed([((1.0, 0.25),), ((1.0, 0.24),)], coarse) == [(0.3, None), (0.2, None)]


GRID = st.integers(0, 10_000).map(lambda number: number / 10_000)
VALUES = st.one_of(st.none(), GRID, st.floats(0, 1), st.sampled_from([0.00005, 0.99995, 1.5, -0.1, math.inf, math.nan]))
SOUND = st.sampled_from([(1.0,), (0.4, 0.35, 0.25), (0.5, 0.5), (0.2,) * 5, (0.3, 0.7 - 9e-10), (0.0, 1.0)])
WEIGHTS = st.one_of(SOUND, st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=4).map(tuple))
TRIALS = WEIGHTS.flatmap(
    lambda weights: st.tuples(*(VALUES for _ in weights)).map(lambda values: tuple(zip(weights, values, strict=True)))
)


@given(st.lists(TRIALS, min_size=1, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_trials_as_in_plain_python(trials: list[Stages]) -> None:
    assert computed(trials) == [expected(stages) for stages in trials]


def test_what_each_stage_contributed() -> None:
    made = staged_trial((0.4, 0.5), (0.35, None), (0.25, 1.5), (7.0, 0.5, False), (0.0, -0.0), attempt_id="b")
    found = stage_scores(frames(made, staged_trial((1.0, 1.0), attempt_id="a")))
    assert found.select("attempt_id", "position", "contribution", "reason").rows() == [
        ("a", 0, 1.0, None),
        ("b", 0, 0.2, None),
        ("b", 1, 0.0, "no_value"),
        ("b", 2, None, "stage_out_of_range"),
        ("b", 3, None, "not_hidden"),
        ("b", 4, 0.0, None),
    ]
    assert found["value"].to_list() == [1.0, 0.5, None, 1.5, 0.5, 0.0]
    assert str(found["contribution"][-1]) == "0.0"
    assert found["rules"].unique().item() == V1.id


def test_only_staged_trials_have_stages() -> None:
    assert stage_scores(frames(trial("harbor"))).equals(pl.DataFrame(schema=schema(StageScores)))
