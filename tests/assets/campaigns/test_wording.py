"""What reports say: numbers, units, claims, verdicts and reasons."""

from typing import Any

import pytest

from assets.campaigns import wording
from assets.campaigns.contract import EXPECTATIONS, VERDICTS
from assets.campaigns.verdict import REASONS


def comparison(**changes: Any) -> dict[str, Any]:
    known = {
        "expectation": "improvement",
        "verdict": "pass",
        "tolerance": 0.05,
        "confidence": 0.95,
        "effect": 0.2,
        "reasons": [],
        "pairs": 36,
        "numeric_pairs": 34,
        "companies": 5,
    }
    return known | changes


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([], 0),
        ([None, None], 0),
        ([0.0], 0),
        ([1.0, -1.0, 0.0], 0),
        ([0.05, 0.5], 2),
        ([1 / 3], 4),
        ([1 / 3, 20.0], 2),
        ([12_345.678], 0),
        ([0.000123456], 7),
        ([1e-12], 4),
        ([1e300], 4),
    ],
)
def test_decimals_are_as_many_as_are_needed(values: list[float | None], places: int) -> None:
    assert wording.decimals(values) == places


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (None, 2, "no value"),
        (0.0, 2, "0.00"),
        (-0.0, 0, "0"),
        (0.25, 2, "+0.25"),
        (-0.25, 2, "−0.25"),
        (12_345.6, 0, "+12,346"),
        (0.0004, 2, "+0.0004"),
        (-1e-17, 2, "−1e−17"),
        (1.5e300, 2, "+1.5e+300"),
    ],
)
def test_a_number_that_is_not_zero_is_never_shown_as_zero(value: float | None, places: int, text: str) -> None:
    assert wording.number(value, places, signed=True) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.0, "0"), (0.05, "0.05"), (25_000.0, "25,000"), (-0.1, "−0.1"), (1e-9, "1e−09")]
)
def test_a_registered_number_stays_as_it_is(value: float, text: str) -> None:
    assert wording.exactly(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain / ünïcode 🎉", "plain / ünïcode 🎉"),
        ("מחיר\u200f", "מחיר\u200f"),
        ("a\u202eb", "a\\u202eb"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("a\x00b\nc\x9bd\u2028e", "a\\x00b\\nc\\x9bd\\u2028e"),
    ],
)
def test_inert_text_neither_breaks_a_line_nor_reorders_its_neighbours(text: str, shown: str) -> None:
    assert wording.inert(text) == shown


@pytest.mark.parametrize(
    ("name", "direction", "unit", "about"),
    [
        ("objectiveSuccess", "higher_is_better", "share of cases", "1 for an attempt"),
        ("primaryValue", "higher_is_better", "accounts", "primary value"),
        ("reward", "higher_is_better", "reward, no unit", "reward"),
        ("closing:netAssetsCents", "higher_is_better", "cents", "net assets"),
        ("closing:retainedAccounts", "lower_is_better", "accounts", "retained accounts"),
        ("score:why:churn", "higher_is_better", "score, no unit", "the score"),
        ("score:why", "lower_is_better", "error, no unit", "the error"),
    ],
)
def test_each_metric_has_a_unit_and_is_explained(name: str, direction: str, unit: str, about: str) -> None:
    metric = wording.metric(name, direction, "accounts")
    assert metric.unit == unit
    assert about in metric.about


def test_a_primary_value_of_unknown_unit_says_so() -> None:
    metric = wording.metric("primaryValue", "higher_is_better", None)
    assert (metric.unit, metric.after) == ("unit of the primary metric", "")


@pytest.mark.parametrize(
    ("expectation", "tolerance", "text"),
    [
        ("improvement", 0.05, "the treatment is better than the baseline by more than 0.05 cents"),
        ("improvement", 0.0, "the treatment is better than the baseline"),
        ("no_regression", 0.05, "the treatment is not worse than the baseline by more than 0.05 cents"),
        ("no_regression", 0.0, "the treatment is not worse than the baseline"),
        ("equivalence", 0.05, "treatment and baseline differ by less than 0.05 cents"),
    ],
)
def test_claims(expectation: str, tolerance: float, text: str) -> None:
    assert wording.claim(comparison(expectation=expectation, tolerance=tolerance), " cents") == text


@pytest.mark.parametrize(
    ("expectation", "verdict", "text"),
    [
        ("improvement", "pass", "The treatment is better, as claimed: the whole 95% interval lies above +0.05."),
        ("improvement", "fail", "The treatment is not better by that margin: the 95% interval ends at or below +0.05."),
        ("improvement", "inconclusive", "the 95% interval lies on both sides of +0.05"),
        ("no_regression", "pass", "not worse, as claimed: the whole 95% interval lies at or above −0.05."),
        ("no_regression", "fail", "worse beyond the tolerance: the whole 95% interval lies below −0.05."),
        ("no_regression", "inconclusive", "the 95% interval lies on both sides of −0.05"),
        ("equivalence", "pass", "equivalent within the tolerance: the whole 95% interval is inside ±0.05."),
        ("equivalence", "fail", "not equivalent: the whole 95% interval lies outside ±0.05."),
        ("equivalence", "inconclusive", "neither wholly inside nor wholly outside ±0.05"),
    ],
)
def test_verdicts(expectation: str, verdict: str, text: str) -> None:
    assert text in wording.verdict(comparison(expectation=expectation, verdict=verdict), "")


@pytest.mark.parametrize("expectation", EXPECTATIONS)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_of_every_expectation_is_a_sentence(expectation: str, verdict: str) -> None:
    sentence = wording.verdict(comparison(expectation=expectation, verdict=verdict, tolerance=0.0), " cents")
    assert sentence.endswith(".")
    assert "{" not in sentence


def test_nothing_is_concluded_without_an_estimate_or_against_a_reason() -> None:
    without = comparison(verdict="inconclusive", effect=None, reasons=["incomplete_inventory"])
    against = comparison(verdict="inconclusive", reasons=["too_few_companies"])
    assert "there is no estimate" in wording.verdict(without, "")
    assert "although there is an estimate" in wording.verdict(against, "")


def test_every_reason_is_told_in_order() -> None:
    told = wording.reasons(comparison(reasons=list(REASONS)))
    assert len(set(told)) == len(REASONS)
    assert "2 of 36 registered pairs lack a value" in told[REASONS.index("incomplete_inventory")]
    assert "5 companies in all" in told[REASONS.index("too_few_companies")]
