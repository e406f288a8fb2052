"""What a numeric campaign says: the estimate, and how far it may be from the truth.

Here: the percentile interval of the bootstrap, the t interval on company means, the standard error, and what of them is
zero. Not here: drawing (`bootstrap`), and what follows from the intervals (`verdict`).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from assets.campaigns.bootstrap import DEPTHS, Doubles, Level, hierarchy, resampled_means
from assets.rulesets.loader import RuleSet

FAMILY, COMPANY = DEPTHS.index("family"), DEPTHS.index("company")
SAFE_EXPONENT = 500
"""Doubles below two to this power can be squared and summed."""


class Interval(NamedTuple):
    """Both ends, which may be infinite."""

    low: float
    high: float

    def in_units_of(self, unit: float) -> "Interval":
        """The interval of quantities of the unit."""
        return Interval(self.low * unit, self.high * unit)


class Estimate(NamedTuple):
    """The mean effect and its precision, in the metric's unit.

    `degenerate`: the resampled means are all the estimate; `uniform`: the effects of the pairs are.
    """

    effect: float
    interval: Interval
    t_interval: Interval | None
    std_error: float | None
    mde: float | None
    degenerate: bool
    uniform: bool


def margin(limit: float, rules: RuleSet) -> float:
    """How far from the limit a computed double still counts as equal to it."""
    return rules.comparison.slack * max(1.0, abs(limit))


def estimate(nodes: Sequence[pl.DataFrame], effects: pl.Series, seed: str, rules: RuleSet) -> Estimate:
    """The estimate of a campaign, from the nodes of every level and the effects of its pairs in key order."""
    unit = safe_unit(effects)
    levels = hierarchy(nodes, effects, unit)
    means = resampled_means(levels, rules, seed)
    effect = nodes[0]["effect"].item()
    spread = standard_error(means)
    std_error = None if spread is None else spread * unit
    nothing = margin(effect, rules)
    of_companies = t_interval(levels, rules.campaign.confidence, nothing / unit)
    return Estimate(
        effect,
        percentile_interval(means, rules.campaign.confidence).in_units_of(unit),
        None if of_companies is None else of_companies.in_units_of(unit),
        std_error,
        None if std_error is None else (rules.campaign.mde_z_alpha + rules.campaign.mde_z_power) * std_error,
        degenerate=std_error is None or std_error <= nothing,
        uniform=bool((np.abs(levels[-1].means - effect / unit) <= nothing / unit).all()),
    )


def safe_unit(effects: pl.Series) -> float:
    """A power of two in whose units no sum, square or interval overflows; 1 unless effects are beyond all reason."""
    _, exponent = math.frexp(np.abs(effects.to_numpy()).max())
    return 2.0 ** max(0, exponent - SAFE_EXPONENT)


def percentile_interval(means: Doubles, confidence: float) -> Interval:
    """Linear interpolation between the order statistics of the resampled means, equal tails."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], method="linear").tolist()
    return Interval(low, high)


def standard_error(means: Doubles) -> float | None:
    """The standard deviation of the resampled means; null of a single one."""
    return float(means.std(ddof=1)) if means.size > 1 else None


def t_interval(levels: Sequence[Level], confidence: float, nothing: float) -> Interval | None:
    """The t interval on company means: independent families, Satterthwaite's degrees of freedom.

    Null where a family has one company; the point at the effect where the standard error is at most `nothing`.
    """
    effect, family = float(levels[0].means[0]), levels[FAMILY]
    companies = family.sizes[family.rank]
    if companies.min() < 2:  # noqa: PLR2004 - one company does not vary
        return None
    of_families = np.split(levels[COMPANY].means, family.first[1:])
    terms = np.array([means.var(ddof=1) for means in of_families]) / (companies * float(companies.size) ** 2)
    variance = terms.sum()
    deviation = math.sqrt(variance)
    if deviation <= nothing:
        return Interval(effect, effect)
    degrees = 1 / ((terms / variance) ** 2 / (companies - 1)).sum()
    reach = float(stdtrit(degrees, (1 + confidence) / 2)) * deviation
    return Interval(effect - reach, effect + reach)
