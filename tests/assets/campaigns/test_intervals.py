"""The intervals of a campaign, its standard error, and where they have no width."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

from assets.campaigns.bootstrap import hierarchy, resampled_means
from assets.campaigns.contract import CASE
from assets.campaigns.effects import nodes
from assets.campaigns.intervals import Estimate, Interval, estimate, percentile_interval, standard_error
from assets.rulesets.loader import RuleSet
from tests.assets.campaigns.effect_layer import QUICK, V1, Effects, pairs, registration, rules, unbalanced
from tests.reference import campaigns as reference

SEED = "ab" * 32


def of(effects: Effects, rule_set: RuleSet = QUICK) -> Estimate:
    table = pairs(registration(effects), effects).sort(CASE)
    return estimate(nodes(table), table["effect"], SEED, rule_set)


def companies(**families: list[float]) -> Effects:
    """One case per company."""
    return {(f, f"c{n:02}", "t", "s", 1): value for f, values in families.items() for n, value in enumerate(values)}


def test_percentiles_lie_between_order_statistics() -> None:
    means = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    assert percentile_interval(means, 0.5) == Interval(2.0, 4.0)
    assert percentile_interval(means, 0.95) == pytest.approx((1.1, 4.9), abs=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_percentiles_against_the_reference(confidence: float) -> None:
    means = np.random.default_rng(3).normal(size=997)
    expected = reference.percentile_interval(means.tolist(), confidence)
    assert percentile_interval(means, confidence) == pytest.approx(expected, abs=1e-12)


def test_standard_error_has_one_degree_of_freedom_less() -> None:
    assert standard_error(np.array([1.0, 2.0, 4.0])) == pytest.approx(statistics.stdev([1.0, 2.0, 4.0]), rel=1e-15)
    assert standard_error(np.array([1.0])) is None


def test_what_is_told_is_of_the_resampled_means() -> None:
    effects = unbalanced(5)
    table = pairs(registration(effects), effects).sort(CASE)
    means = resampled_means(hierarchy(nodes(table), table["effect"]), QUICK, SEED)
    found = of(effects)
    assert found.interval == percentile_interval(means, 0.95)
    assert found.std_error == standard_error(means)
    assert found.mde == pytest.approx((1.959964 + 0.841621) * float(means.std(ddof=1)), rel=1e-15)


def test_t_interval_of_one_family_is_that_of_its_companies() -> None:
    values = [0.3, 0.1, -0.2, 0.9, 0.45]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert of(companies(f=values)).t_interval == pytest.approx(tuple(expected), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_t_interval_of_two_families_is_that_of_two_unequal_samples(confidence: float) -> None:
    one, other = [0.3, 0.1, -0.2], [5.0, 9.0, 2.0, 2.5, 3.0]
    welch = stats.ttest_ind(one, [-value for value in other], equal_var=False).confidence_interval(confidence)
    found = of(companies(a=one, b=other), rules(resamples=10, confidence=confidence)).t_interval
    assert found == pytest.approx((welch.low / 2, welch.high / 2), rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_t_interval_against_the_reference(seed: int) -> None:
    effects = unbalanced(seed)
    expected = reference.t_interval(reference.tree(effects), 0.95)
    assert of(effects).t_interval == (expected if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12))


def test_no_t_interval_where_a_family_has_one_company() -> None:
    assert of(companies(a=[1.0, 2.0, 3.0], b=[1.0])).t_interval is None
    assert of(companies(a=[1.0])).t_interval is None


def test_t_interval_is_the_effect_where_companies_do_not_vary() -> None:
    found = of(companies(a=[0.1, 0.1], b=[0.7, 0.7, 0.7]))
    assert found.t_interval == (found.effect, found.effect)


def test_families_that_do_not_vary_leave_the_others_their_degrees_of_freedom() -> None:
    found = of(companies(a=[1.0, 1.0, 1.0], b=[0.0, 1.0, 2.0])).t_interval
    assert found is not None
    half = stats.t.ppf(0.975, 2) * math.sqrt(1 / 3 / 4)
    assert found == pytest.approx((1 - half, 1 + half), rel=1e-12)


@pytest.mark.parametrize(
    ("effects", "degenerate", "uniform"),
    [
        (companies(a=[0.1, 0.1, 0.1], b=[0.1, 0.1]), True, True),
        (companies(a=[0.1], b=[0.7]), True, False),
        (companies(a=[0.0], b=[0.5], c=[1.0]), True, False),
        (companies(a=[0.1, 0.1], b=[0.7, 0.7, 0.7]), True, False),
        (companies(a=[0.1, 0.1 + 1e-10]), True, True),
        (companies(a=[0.1, 0.1 + 1e-7]), False, False),
        (companies(a=[1e10, 1e10 + 1e-4]), True, True),
        (companies(a=[1e10, 1e10 + 1e3]), False, False),
        # Which task of the only company is drawn matters, which repeat does not.
        ({("f", "c", "t", "s", 1): 0.0, ("f", "c", "u", "s", 1): 1.0}, False, False),
        ({("f", "c", "t", "s", 1): 0.0, ("f", "c", "t", "s", 2): 1.0}, True, False),
    ],
)
def test_intervals_without_width(effects: Effects, *, degenerate: bool, uniform: bool) -> None:
    found = of(effects)
    assert (found.degenerate, found.uniform) == (degenerate, uniform)


def test_one_resample_has_no_width_and_no_standard_error() -> None:
    found = of(companies(a=[1.0, 2.0]), rules(resamples=1))
    assert (found.std_error, found.mde, found.degenerate) == (None, None, True)
    assert found.interval.low == found.interval.high


def test_nothing_resampled_has_no_width() -> None:
    found = of(companies(a=[1.0, 2.0]), rules(resamples=50, resampled_levels=()))
    assert (found.interval, found.degenerate) == ((1.5, 1.5), True)


@pytest.mark.parametrize("size", [1e153, 1e155, 1e300, 1e307])
def test_figures_of_any_size_are_those_of_ordinary_ones(size: float) -> None:
    shares = companies(a=[0.25, 0.5, 1.0], b=[-1.0, 0.75, 0.5])
    ordinary, vast = of(shares), of({case: share * size for case, share in shares.items()})
    assert vast.effect / size == pytest.approx(ordinary.effect, rel=1e-12)
    assert vast.std_error is not None
    assert vast.std_error / size == pytest.approx(ordinary.std_error, rel=1e-12)
    assert [end / size for end in vast.interval] == pytest.approx(list(ordinary.interval), rel=1e-12)
    assert vast.t_interval is not None
    assert ordinary.t_interval is not None
    assert [end / size for end in vast.t_interval] == pytest.approx(list(ordinary.t_interval), rel=1e-12)


def test_an_end_beyond_the_doubles_is_infinite() -> None:
    found = of(companies(a=[-1.7e308, 1.7e308]))
    assert found.t_interval == (-math.inf, math.inf)
    assert found.interval == (-1.7e308, 1.7e308)


def test_the_first_rules_resample_as_declared() -> None:
    assert of(companies(a=[0.0, 1.0]), V1).interval == (0.0, 1.0)
