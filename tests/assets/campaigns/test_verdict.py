"""The verdict table at each of its boundaries, and every reason."""

import itertools

import pytest

from assets.campaigns.intervals import Estimate, Interval
from assets.campaigns.verdict import REASONS, Verdict, concluded
from assets.rulesets.loader import RuleSet
from tests.assets.campaigns.effect_layer import SIX, V1, registration, rules
from tests.reference import campaigns as reference

NEAR, FAR = 0.9e-9, 1.1e-9
"""Within and beyond the slack of a limit of at most 1."""


def verdict(
    expectation: str,
    tolerance: float,
    interval: tuple[float, float],
    t_interval: tuple[float, float] | None = None,
    *,
    companies: int = 6,
    missing: tuple[str, ...] = (),
    degenerate: bool = False,
    uniform: bool = False,
    rule_set: RuleSet = V1,
) -> Verdict:
    estimate = Estimate(
        effect=sum(interval) / 2,
        interval=Interval(*interval),
        t_interval=None if t_interval is None else Interval(*t_interval),
        std_error=0.1,
        mde=0.3,
        degenerate=degenerate,
        uniform=uniform,
    )
    of = registration(SIX, expectation=expectation, tolerance=tolerance)
    return concluded(of, None if missing else estimate, companies, missing, rule_set)


@pytest.mark.parametrize(
    ("expectation", "tolerance", "interval", "expected"),
    [
        ("improvement", 0.05, (0.05 + FAR, 1), "pass"),
        ("improvement", 0.05, (0.05 + NEAR, 1), "inconclusive"),
        ("improvement", 0.05, (0.05, 1), "inconclusive"),
        ("improvement", 0.05, (1 - 0.95, 1), "inconclusive"),
        ("improvement", 0.05, (-1, 0.05), "fail"),
        ("improvement", 0.05, (-1, 1 - 0.95), "fail"),
        ("improvement", 0.05, (-1, 0.05 + NEAR), "fail"),
        ("improvement", 0.05, (-1, 0.05 + FAR), "inconclusive"),
        ("improvement", 0.05, (-1, -0.5), "fail"),
        ("improvement", 0.0, (0.0, 1), "inconclusive"),
        ("improvement", 0.0, (0.0, 0.0), "fail"),
        ("improvement", 0.0, (0.01, 1), "pass"),
        ("improvement", 1e6, (1e6 + 9e-4, 2e6), "inconclusive"),
        ("improvement", 1e6, (1e6 + 2e-3, 2e6), "pass"),
        ("no_regression", 0.05, (-0.05, 1), "pass"),
        ("no_regression", 0.05, (-0.05 - NEAR, 1), "pass"),
        ("no_regression", 0.05, (-0.05 - FAR, 1), "inconclusive"),
        ("no_regression", 0.05, (-1, -0.05), "inconclusive"),
        ("no_regression", 0.05, (-1, -0.05 - NEAR), "inconclusive"),
        ("no_regression", 0.05, (-1, -0.05 - FAR), "fail"),
        ("no_regression", 0.0, (0.0, 0.0), "pass"),
        ("no_regression", 0.0, (-1, 0.0), "inconclusive"),
        ("no_regression", 0.0, (-1, -0.1), "fail"),
        ("equivalence", 0.05, (-0.05 + FAR, 0.05 - FAR), "pass"),
        ("equivalence", 0.05, (-0.05, 0.04), "inconclusive"),
        ("equivalence", 0.05, (-0.05 + NEAR, 0.04), "inconclusive"),
        ("equivalence", 0.05, (-0.04, 0.05), "inconclusive"),
        ("equivalence", 0.05, (-0.04, 0.05 - NEAR), "inconclusive"),
        ("equivalence", 0.05, (-1, 1), "inconclusive"),
        ("equivalence", 0.05, (0.05, 1), "fail"),
        ("equivalence", 0.05, (0.05 - NEAR, 1), "fail"),
        ("equivalence", 0.05, (0.05 - FAR, 1), "inconclusive"),
        ("equivalence", 0.05, (-1, -0.05), "fail"),
        ("equivalence", 0.05, (-1, -0.05 + NEAR), "fail"),
        ("equivalence", 0.05, (-1, -0.05 + FAR), "inconclusive"),
    ],
)
def test_each_boundary(expectation: str, tolerance: float, interval: tuple[float, float], expected: str) -> None:
    assert verdict(expectation, tolerance, interval) == (expected, [])


@pytest.mark.parametrize("expectation", ["improvement", "no_regression", "equivalence"])
def test_the_whole_table_against_the_reference(expectation: str) -> None:
    ends = [limit + step for limit in (-0.05, 0.0, 0.05) for step in (-0.1, -FAR, -NEAR, 0.0, NEAR, FAR, 0.1)]
    for low, high in itertools.product(ends, ends):
        if low <= high:
            expected = reference.verdict_of(expectation, (low, high), 0.05)
            assert verdict(expectation, 0.05, (low, high)).verdict == expected


@pytest.mark.parametrize(
    ("t_interval", "expected"),
    [
        ((0.1, 1.0), ("pass", [])),
        ((-0.1, 1.0), ("inconclusive", ["intervals_disagree"])),
        ((-2.0, -1.0), ("inconclusive", ["intervals_disagree"])),
        (None, ("pass", [])),
    ],
)
def test_a_conclusion_holds_under_both_intervals(
    t_interval: tuple[float, float] | None, expected: tuple[str, list[str]]
) -> None:
    assert verdict("improvement", 0.0, (0.2, 0.9), t_interval) == expected


def test_a_failure_too_holds_under_both_intervals() -> None:
    assert verdict("improvement", 0.0, (-0.5, -0.1), (-1.0, -0.1)) == ("fail", [])
    assert verdict("improvement", 0.0, (-0.5, -0.1), (-1.0, 0.1)) == ("inconclusive", ["intervals_disagree"])


def test_an_interval_that_decides_nothing_is_not_contradicted() -> None:
    assert verdict("improvement", 0.0, (-0.2, 0.9), (0.1, 1.0)) == ("inconclusive", [])


def test_the_t_interval_may_be_dispensed_with() -> None:
    without = rules(require_t_interval=False)
    assert verdict("improvement", 0.0, (0.2, 0.9), (-0.1, 1.0), rule_set=without) == ("pass", [])


@pytest.mark.parametrize(("companies", "expected"), [(6, ("pass", [])), (5, ("inconclusive", ["too_few_companies"]))])
def test_few_companies_conclude_nothing(companies: int, expected: tuple[str, list[str]]) -> None:
    assert verdict("improvement", 0.0, (0.2, 0.9), companies=companies) == expected


def test_how_few_is_a_rule() -> None:
    assert verdict("improvement", 0.0, (0.2, 0.9), companies=2, rule_set=rules(minimum_companies=2)).verdict == "pass"


@pytest.mark.parametrize(("uniform", "expected"), [(True, "pass"), (False, "inconclusive")])
def test_no_width_is_always_told_and_harmless_where_every_pair_is_alike(expected: str, *, uniform: bool) -> None:
    found = verdict("improvement", 0.0, (0.5, 0.5), (0.5, 0.5), degenerate=True, uniform=uniform)
    assert found == (expected, ["degenerate_interval"])


def test_every_reason_is_listed_in_one_order() -> None:
    missing = ("incomplete_inventory", "contract_mismatch", "mixed_units")
    found = verdict("improvement", 0.0, (0.2, 0.9), companies=5, missing=missing)
    assert found == ("inconclusive", ["mixed_units", "contract_mismatch", "incomplete_inventory", "too_few_companies"])
    found = verdict("improvement", 0.0, (0.2, 0.9), (-1.0, 1.0), companies=5, degenerate=True)
    assert found == ("inconclusive", ["too_few_companies", "degenerate_interval", "intervals_disagree"])
    assert REASONS == reference.REASONS
