"""What a comparison concludes: the verdict table, and every reason why nothing can be concluded.

Here: claims against intervals. Not here: the intervals (`intervals`), and why a comparison is refused (`pairs`).
"""

from collections.abc import Collection
from typing import NamedTuple

from assets.campaigns.intervals import Estimate, Interval, margin
from assets.campaigns.pairs import CONTRACT_MISMATCH, MIXED_UNITS
from assets.campaigns.registration import Registration
from assets.rulesets.loader import RuleSet

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
INCOMPLETE_INVENTORY, TOO_FEW_COMPANIES = "incomplete_inventory", "too_few_companies"
DEGENERATE_INTERVAL, INTERVALS_DISAGREE = "degenerate_interval", "intervals_disagree"
REASONS = (
    MIXED_UNITS,
    CONTRACT_MISMATCH,
    INCOMPLETE_INVENTORY,
    TOO_FEW_COMPANIES,
    DEGENERATE_INTERVAL,
    INTERVALS_DISAGREE,
)
"""Every reason, in the order in which they are listed."""


class Verdict(NamedTuple):
    """Whether the claim holds, and every reason that speaks against a conclusion."""

    verdict: str
    reasons: list[str]


def concluded(
    registration: Registration, estimate: Estimate | None, companies: int, missing: Collection[str], rules: RuleSet
) -> Verdict:
    """The verdict of a comparison.

    Args:
        registration: what is claimed, and the tolerance.
        estimate: both intervals; None where there are no figures.
        companies: how many are registered, over all families.
        missing: the reasons why there are no figures.
        rules: what a conclusion needs.
    """
    found = set(missing)
    if companies < rules.campaign.minimum_companies:
        found.add(TOO_FEW_COMPANIES)
    verdict = INCONCLUSIVE
    harmless = set()
    if estimate is not None:
        verdict = of_interval(registration, estimate.interval, rules)
        if estimate.degenerate:
            found.add(DEGENERATE_INTERVAL)
        if estimate.uniform:
            harmless.add(DEGENERATE_INTERVAL)
        if verdict != INCONCLUSIVE and _contradicted(verdict, registration, estimate.t_interval, rules):
            found.add(INTERVALS_DISAGREE)
    return Verdict(INCONCLUSIVE if found - harmless else verdict, sorted(found, key=REASONS.index))


def _contradicted(verdict: str, registration: Registration, interval: Interval | None, rules: RuleSet) -> bool:
    if interval is None or not rules.campaign.require_t_interval:
        return False
    return of_interval(registration, interval, rules) != verdict


def of_interval(registration: Registration, interval: Interval, rules: RuleSet) -> str:
    """The verdict of one interval alone."""
    tolerance = registration.tolerance
    low, high = (_End(end, rules) for end in interval)
    passes, fails = {
        "improvement": (low.above(tolerance) > 0, high.above(tolerance) <= 0),
        "no_regression": (low.above(-tolerance) >= 0, high.above(-tolerance) < 0),
        "equivalence": (
            low.above(-tolerance) > 0 and high.above(tolerance) < 0,
            low.above(tolerance) >= 0 or high.above(-tolerance) <= 0,
        ),
    }[registration.expectation]
    return PASS if passes else FAIL if fails else INCONCLUSIVE


class _End(NamedTuple):
    value: float
    rules: RuleSet

    def above(self, limit: float) -> float:
        """How far the end is above the limit: nothing where it counts as equal."""
        distance = self.value - limit
        return 0.0 if abs(distance) <= margin(limit, self.rules) else distance
