"""What a report says in words: numbers as people read them, units, and the verdict in plain English.

Here: text made of figures and of the closed vocabularies. Not here: geometry (`charts`), rows (`report`), markup
(`report.html`, which escapes all of it).
"""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from assets.attempts.contract import DAY_METRICS, TrajectoryDays
from assets.campaigns.registration import CLOSING, PRIMARY_VALUE, REWARD, SCORE
from assets.contract import descriptions

NO_VALUE = "no value"
DIGITS = 4
TINY, HUGE = 1e-6, 1e15
BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
INVISIBLE = {"Cc", "Cs", "Zl", "Zp"}

Row = dict[str, Any]


def inert(text: str) -> str:
    """The text with an escape for every character that could break a line or reorder its neighbours."""
    return "".join(_escape(character) if _acts(character) else character for character in text)


def _acts(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE or unicodedata.bidirectional(character) in BIDI_CONTROLS


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def decimals(values: Iterable[float | None]) -> int:
    """Decimals that a column of these values is shown with: as many as they need, or four digits of the largest."""
    known = [value for value in values if value is not None]
    largest = max(map(abs, known), default=0.0)
    if not TINY <= largest < HUGE:
        return 0 if largest == 0 else DIGITS
    limit = max(0, DIGITS - 1 - math.floor(math.log10(largest)))
    return next((places for places in range(limit) if all(round(value, places) == value for value in known)), limit)


def number(value: float | None, places: int, *, signed: bool = False) -> str:
    """The value with so many decimals; in scientific notation where that would show it as zero, or be too long."""
    if value is None:
        return NO_VALUE
    sign = "+" if signed and value > 0 else ""
    text = f"{value:{sign},.{places}f}"
    if value != 0 and (float(f"{value:.{places}f}") == 0 or abs(value) >= HUGE):
        text = f"{value:{sign}.3g}"
    return (text if value else f"{0:.{places}f}").replace("-", "\N{MINUS SIGN}")


def exactly(value: float, *, signed: bool = False) -> str:
    """A registered number as it was registered, such as a tolerance."""
    return number(value, 0, signed=signed) if value == int(value) else _shortest(value, signed=signed)


def _shortest(value: float, *, signed: bool) -> str:
    return f"{'+' if signed and value > 0 else ''}{value!r}".replace("-", "\N{MINUS SIGN}")


def count(number_: int, one: str, many: str = "") -> str:
    """`1 pair`, `1,200 pairs`."""
    return f"{number_:,} {one if number_ == 1 else many or one + 's'}"


class Metric(NamedTuple):
    """What a metric measures, and the unit of it; `after` is the unit as it follows a number."""

    about: str
    unit: str
    after: str


ABOUT_SUCCESS = "1 for an attempt that meets every required predicate, 0 for one that fails any; effects are shares"


def metric(name: str, direction: str, primary_unit: str | None) -> Metric:
    """What is known of a metric by its name; a primary value has the unit of the tasks' primary metric."""
    kind, _, of = name.partition(":")
    if kind == CLOSING:
        unit = _last_word(of)
        about = descriptions(TrajectoryDays)[DAY_METRICS[of]].lower()
        return Metric(f"the closing value, on the last day present, of: {about}", unit, f" {unit}")
    if kind == PRIMARY_VALUE:
        unit = primary_unit or "unit of the primary metric"
        after = f" {primary_unit}" if primary_unit else ""
        return Metric("the primary value of each attempt, in the unit of its task's primary metric", unit, after)
    if kind == SCORE:
        graded = "score" if direction == "higher_is_better" else "error"
        return Metric(f"the {graded} of each attempt's answer to one question", f"{graded}, no unit", "")
    if kind == REWARD:
        return Metric("the reward of each attempt under the rule set", "reward, no unit", "")
    return Metric(ABOUT_SUCCESS, "share of cases", "")


def _last_word(camel: str) -> str:
    start = max((place for place, letter in enumerate(camel) if letter.isupper()), default=0)
    return camel[start:].lower()


CLAIMS = {
    "improvement": "the treatment is better than the baseline by more than {tolerance}",
    "no_regression": "the treatment is not worse than the baseline by more than {tolerance}",
    "equivalence": "treatment and baseline differ by less than {tolerance}",
}
VERDICTS = {
    ("improvement", "pass"): "The treatment is better, as claimed: the whole {interval} lies above {edge}.",
    ("improvement", "fail"): "The treatment is not better by that margin: the {interval} ends at or below {edge}.",
    ("no_regression", "pass"): "The treatment is not worse, as claimed: the whole {interval} lies at or above {edge}.",
    ("no_regression", "fail"): "The treatment is worse beyond the tolerance: the whole {interval} lies below {edge}.",
    ("equivalence", "pass"): "The two arms are equivalent within the tolerance: the whole {interval} is inside {edge}.",
    ("equivalence", "fail"): "The two arms are not equivalent: the whole {interval} lies outside {edge}.",
}
UNDECIDED = {
    "improvement": "on both sides of {edge}",
    "no_regression": "on both sides of {edge}",
    "equivalence": "neither wholly inside nor wholly outside {edge}",
}


def claim(comparison: Row, after: str) -> str:
    """What was claimed of the treatment before it was measured."""
    tolerance = comparison["tolerance"]
    text = CLAIMS[comparison["expectation"]]
    return (text if tolerance else text.removesuffix(" by more than {tolerance}")).format(
        tolerance=f"{exactly(tolerance)}{after}"
    )


def verdict(comparison: Row, after: str) -> str:
    """The verdict in a sentence: what it means, and what decides it."""
    expectation, decided, tolerance = (comparison[name] for name in ("expectation", "verdict", "tolerance"))
    words = {
        "interval": f"{percent(comparison['confidence'])} interval",
        "edge": {
            "improvement": exactly(tolerance, signed=True),
            "no_regression": exactly(-tolerance, signed=True),
            "equivalence": f"±{exactly(tolerance)}",
        }[expectation]
        + after,
    }
    if decided != "inconclusive":
        return VERDICTS[expectation, decided].format(**words)
    if comparison["effect"] is None:
        return "Nothing can be concluded: there is no estimate, and no figure is made from a part of the inventory."
    if comparison["reasons"]:
        return "Nothing can be concluded, although there is an estimate and a {interval}.".format(**words)
    where = UNDECIDED[expectation].format(**words)
    return f"The evidence does not decide: the {words['interval']} lies {where}, so neither answer is excluded."


def reasons(comparison: Row) -> list[str]:
    """Every reason of a comparison, in a sentence each."""
    without = comparison["pairs"] - comparison["numeric_pairs"]
    known = {
        "incomplete_inventory": (
            f"{without:,} of {count(comparison['pairs'], 'registered pair')} lack a value on at least one side. They "
            "stay in the inventory, so the comparison has no estimate."
        ),
        "mixed_units": "The attempts carry values of different units, which cannot be averaged or subtracted.",
        "contract_mismatch": "For at least one case the two arms worked under different task contracts.",
        "too_few_companies": (
            f"{count(comparison['companies'], 'company', 'companies')} in all is fewer than the rule set asks for: "
            "too few for an interval that can be trusted."
        ),
        "degenerate_interval": "Every resampled mean is the same, so the bootstrap interval has no width.",
        "intervals_disagree": "The bootstrap interval and the t interval lead to different verdicts; both must agree.",
    }
    return [known[reason] for reason in comparison["reasons"]]


def percent(share: float) -> str:
    """`95%`."""
    return f"{share * 100:.4g}%"
