"""Effects, intervals and verdicts of a campaign in plain Python, from the top down.

Written from the rules alone: the kernels go through the levels from the bottom up, in arrays, and draw from another
generator. A case is a tuple of family, company, task, scenario and repeat; what is below the campaign is a mapping of
mappings. Nothing here knows NumPy, Polars or the tables' modules.
"""

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Case = tuple[str, str, str, str, int]
Interval = tuple[float, float]

LEVELS = ("family", "company", "task", "scenario", "attempt")
REASONS = (
    "mixed_units",
    "contract_mismatch",
    "incomplete_inventory",
    "too_few_companies",
    "degenerate_interval",
    "intervals_disagree",
)


def tree(effects: Mapping[Case, float]) -> dict[Any, Any]:
    """The cases as families of companies of tasks of scenarios of repeats."""
    root: dict[Any, Any] = {}
    for case in sorted(effects):
        below = root
        for name in case[:-1]:
            below = below.setdefault(name, {})
        below[case[-1]] = effects[case]
    return root


def effect(node: Any) -> float:
    """The mean of the children, each the mean of its own."""
    if not isinstance(node, dict):
        return float(node)
    return math.fsum(effect(child) for child in node.values()) / len(node)


def pairs(node: Any) -> int:
    """How many cases are below."""
    return sum(map(pairs, node.values())) if isinstance(node, dict) else 1


def nodes(node: dict[Any, Any], key: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], float, int]]:
    """Key, effect and number of pairs of every node above the cases, from the campaign down."""
    yield key, effect(node), pairs(node)
    for name, child in node.items():
        if isinstance(child, dict):
            yield from nodes(child, (*key, name))


def redrawn(node: Any, resampled: Collection[str], rng: random.Random, depth: int = 0) -> float:
    """The effect of one resampled campaign."""
    if not isinstance(node, dict):
        return float(node)
    children = list(node.values())
    if LEVELS[depth] in resampled:
        children = rng.choices(children, k=len(children))
    return math.fsum(redrawn(child, resampled, rng, depth + 1) for child in children) / len(children)


def distribution(node: Any, resampled: Collection[str], depth: int = 0) -> dict[Fraction, Fraction]:
    """Every effect that a resampled campaign can have, and how probable it is, exactly."""
    if not isinstance(node, dict):
        return {Fraction(node): Fraction(1)}
    children = [distribution(child, resampled, depth + 1) for child in node.values()]
    if LEVELS[depth] in resampled:
        mixed = _added((value, chance / len(children)) for child in children for value, chance in child.items())
        children = [mixed] * len(children)
    total = {Fraction(0): Fraction(1)}
    for child in children:
        total = _added((a + b, p * q) for a, p in total.items() for b, q in child.items())
    return {value / len(children): chance for value, chance in total.items()}


def _added(chances: Iterable[tuple[Fraction, Fraction]]) -> dict[Fraction, Fraction]:
    total: dict[Fraction, Fraction] = {}
    for value, chance in chances:
        total[value] = total.get(value, Fraction(0)) + chance
    return total


def percentile_interval(values: Iterable[float], confidence: float) -> Interval:
    """Between the order statistics by linear interpolation."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return at((1 - confidence) / 2), at((1 + confidence) / 2)


def t_interval(node: dict[Any, Any], confidence: float) -> Interval | None:
    """The t interval on company means, families apart; none where a family has one company."""
    families = [[effect(company) for company in family.values()] for family in node.values()]
    if min(map(len, families)) == 1:
        return None
    parts = [(_variance(means) / len(means) / len(families) ** 2, len(means) - 1) for means in families]
    variance, centre = math.fsum(part for part, _ in parts), effect(node)
    if variance == 0:
        return centre, centre
    degrees = variance**2 / math.fsum(part**2 / freedom for part, freedom in parts)
    reach = t_quantile((1 + confidence) / 2, degrees) * math.sqrt(variance)
    return centre - reach, centre + reach


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def t_quantile(share: float, degrees: float) -> float:
    """By bisection over the integral of the density, as that of a power of the cosine of an angle."""
    whole = math.sqrt(math.pi) * math.exp(math.lgamma(degrees / 2) - math.lgamma((degrees + 1) / 2))
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _integral(angle, degrees - 1) / whole < share - 0.5:
            low = angle
        else:
            high = angle
    return math.tan((low + high) / 2) * math.sqrt(degrees)


def _integral(angle: float, power: float, steps: int = 2000) -> float:
    """Of cos(x)^power from 0 to the angle, by Simpson's rule."""
    width = angle / steps
    inner = math.fsum((4 if step % 2 else 2) * math.pow(math.cos(step * width), power) for step in range(1, steps))
    return (1 + inner + math.pow(math.cos(angle), power)) * width / 3


def verdict_of(expectation: str, interval: Interval, tolerance: float) -> str:
    """The verdict of one interval."""
    low, high = interval
    if expectation == "improvement":
        holds, broken = _order(low, tolerance) == ">", _order(high, tolerance) in "<="
    elif expectation == "no_regression":
        holds, broken = _order(low, -tolerance) in ">=", _order(high, -tolerance) == "<"
    else:
        holds = _order(low, -tolerance) == ">" and _order(high, tolerance) == "<"
        broken = _order(low, tolerance) in ">=" or _order(high, -tolerance) in "<="
    return "pass" if holds else "fail" if broken else "inconclusive"


def _order(value: float, limit: float) -> str:
    if abs(value - limit) <= 1e-9 * max(1.0, abs(limit)):
        return "="
    return "<" if value < limit else ">"


def verdict(
    expectation: str, tolerance: float, effects: Mapping[Case, float], interval: Interval, std_error: float
) -> tuple[str, list[str]]:
    """Verdict and reasons of a numeric comparison with this bootstrap interval, under the first rules."""
    root = tree(effects)
    told = verdict_of(expectation, interval, tolerance)
    of_companies = t_interval(root, 0.95)
    near = 1e-9 * max(1.0, abs(effect(root)))
    found = {
        "too_few_companies": sum(map(len, root.values())) < 6,
        "degenerate_interval": std_error <= near,
        "intervals_disagree": told != "inconclusive"
        and of_companies is not None
        and verdict_of(expectation, of_companies, tolerance) != told,
    }
    reasons = [name for name in REASONS if found.get(name)]
    equal = max(effects.values()) - min(effects.values()) <= near
    blocked = [name for name in reasons if not (equal and name == "degenerate_interval")]
    return "inconclusive" if blocked else told, reasons
