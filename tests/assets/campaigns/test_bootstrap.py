"""The hierarchical bootstrap: what it draws, and that it always draws the same."""

import hashlib
import random
from collections.abc import Collection
from itertools import chain, combinations
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from assets.campaigns import bootstrap
from assets.campaigns.bootstrap import DEPTHS, Doubles, algorithm, hierarchy, resampled_means, seed
from assets.campaigns.contract import CASE
from assets.campaigns.effects import nodes
from assets.campaigns.intervals import percentile_interval
from assets.rulesets.loader import RuleSet
from tests.assets.campaigns.effect_layer import V1, Effects, pairs, registration, rules, unbalanced
from tests.reference import campaigns as reference

SMALL: Effects = {
    ("a", "x", "t", "s", 1): 1.0,
    ("a", "x", "t", "s", 2): 0.0,
    ("a", "x", "u", "s", 1): 3.0,
    ("a", "y", "t", "s", 1): -2.0,
    ("b", "x", "t", "s", 1): 5.0,
    ("b", "x", "t", "r", 1): 4.0,
    ("b", "x", "t", "r", 2): 7.0,
    ("b", "y", "t", "s", 1): 0.5,
}
SUBSETS = list(chain.from_iterable(combinations(DEPTHS[1:], size) for size in range(6)))


def drawn(effects: Effects, rule_set: RuleSet, number: int = 1) -> Doubles:
    table = pairs(registration(effects), effects).sort(CASE)
    return resampled_means(hierarchy(nodes(table), table["effect"]), rule_set, f"{number:x}")


def distance(means: Doubles, effects: Effects, resampled: Collection[str]) -> float:
    """The greatest difference between the exact and the drawn distribution."""
    chances = sorted(reference.distribution(reference.tree(effects), resampled).items())
    values = np.array([float(value) for value, _ in chances])
    # Between the values, so that rounding cannot move a mean across.
    edges = np.append((values[1:] + values[:-1]) / 2, np.inf)
    found = np.searchsorted(np.sort(means), edges) / means.size
    return float(np.abs(found - np.cumsum([float(chance) for _, chance in chances])).max())


@pytest.mark.parametrize("resampled", SUBSETS, ids=">".join)
def test_any_levels_are_drawn_as_their_exact_distribution_says(resampled: tuple[str, ...]) -> None:
    means = drawn(SMALL, rules(resamples=20_000, resampled_levels=resampled))
    assert means.size == 20_000
    assert distance(means, SMALL, resampled) < 1.95 / 20_000**0.5  # Kolmogorov and Smirnov, one in a thousand


@pytest.mark.parametrize("at_once", [1, 7, 2**20])
def test_however_many_are_drawn_at_once(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "AT_ONCE", at_once)
    means = drawn(SMALL, rules(resamples=5000))
    assert means.size == 5000
    assert distance(means, SMALL, V1.campaign.resampled_levels) < 1.95 / 5000**0.5


@pytest.mark.parametrize("seed_", [2, 5, 8])
def test_interval_ends_against_draws_from_the_top_down(seed_: int) -> None:
    effects = unbalanced(seed_, families=3, most=3)
    root, levels = reference.tree(effects), V1.campaign.resampled_levels
    rng, size, repeats = random.Random(seed_), 500, 12
    ours = [percentile_interval(drawn(effects, rules(resamples=size), n), 0.95) for n in range(repeats)]
    theirs = [
        reference.percentile_interval((reference.redrawn(root, levels, rng) for _ in range(size)), 0.95)
        for _ in range(repeats)
    ]
    for mine, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        noise = ((np.var(mine) + np.var(other)) / repeats) ** 0.5
        assert abs(fmean(mine) - fmean(other)) <= 4 * noise + 1e-12


def test_interval_ends_against_scipy_where_the_hierarchy_is_flat() -> None:
    rng = np.random.default_rng(1)
    values = rng.gamma(1.0, size=40)
    flat = {("f", f"c{number:02}", "t", "s", 1): float(value) for number, value in enumerate(values)}
    size, repeats = 4000, 10
    ours = [percentile_interval(drawn(flat, rules(resamples=size), n), 0.95) for n in range(repeats)]
    theirs = [
        stats.bootstrap((values,), np.mean, n_resamples=size, method="percentile", rng=rng).confidence_interval
        for _ in range(repeats)
    ]
    for mine, other in zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True):
        assert abs(fmean(mine) - fmean(other)) <= 4 * ((np.var(mine) + np.var(other)) / repeats) ** 0.5


def test_companies_do_not_leave_their_family() -> None:
    apart = {(family, company, "t", "s", 1): value for family, value in (("a", 1.0), ("b", 5.0)) for company in "xyz"}
    assert set(drawn(apart, rules(resamples=100)).tolist()) == {3.0}


def test_the_same_seed_draws_the_same_bits() -> None:
    effects, rule_set = unbalanced(4), rules(resamples=1000)
    assert drawn(effects, rule_set).tobytes() == drawn(effects, rule_set).tobytes()
    assert drawn(effects, rule_set).tobytes() != drawn(effects, rule_set, 2).tobytes()


def test_what_the_algorithm_of_this_name_draws() -> None:
    """Other draws are another algorithm, or NumPy changed its streams: stored comparisons cannot be checked."""
    means = drawn(SMALL, rules(resamples=1000))
    assert algorithm(V1) == "hierarchical-bootstrap/1 company>task percentile PCG64DXSM"
    assert hashlib.sha256(means.tobytes()).hexdigest()[:16] == "84a447e8f2f4b151"


def test_the_seed_tells_campaigns_metrics_and_rules_apart() -> None:
    seeds = [
        seed("a", "reward", V1),
        seed("b", "reward", V1),
        seed("a", "primaryValue", V1),
        seed("a", "reward", rules(resamples=9)),
        seed("a\x00", "reward", V1),
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(len(one) == 64 for one in seeds)
    assert seed("a", "reward", V1) == seeds[0]
