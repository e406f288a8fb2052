"""What stayed behind: what other inputs gave, and what a night should have left; never what nobody asked for."""

import datetime as dt

import pytest

from pipelines.behind import behind, decide
from pipelines.staleness import INPUTS_CHANGED, NOT_COMPUTED, Stale

SINCE = dt.date(2026, 11, 20)
SCORED = [("2026-11-10", "v1"), ("2026-11-21", "v1"), ("2026-11-21", "v2")]


def one(day: int, rules: str, reason: str, inputs: str = "x") -> Stale:
    return Stale(dt.date(2026, 11, day), rules, ("verifications",), reason, inputs)


@pytest.mark.parametrize(
    ("day", "rules", "reason", "expected"),
    [
        (1, "v1", INPUTS_CHANGED, True),
        (22, "v1", "the code changed", False),
        (22, "v1", "the rule set changed", False),
        (22, "v1", NOT_COMPUTED, True),
        (20, "v1", NOT_COMPUTED, True),
        (19, "v1", NOT_COMPUTED, False),  # nobody looks back so far
        (22, "v2", NOT_COMPUTED, True),
        (20, "v2", NOT_COMPUTED, False),  # a night scored the 21st first: what was before is a backfill's
        (22, "v3", NOT_COMPUTED, False),  # nothing was scored under it yet
    ],
)
def test_which_stale_results_are_behind(day: int, rules: str, reason: str, *, expected: bool) -> None:
    asked = one(day, rules, reason)
    assert behind([asked], SCORED, SINCE) == ([asked] if expected else [])


def test_what_two_looks_found_alike_is_scored_and_nothing_that_moves() -> None:
    first = decide([one(22, "v1", NOT_COMPUTED)], "")
    assert first.score == []
    assert decide([one(22, "v1", NOT_COMPUTED)], first.cursor).score == [one(22, "v1", NOT_COMPUTED)]
    for other in (one(22, "v1", INPUTS_CHANGED), one(22, "v1", NOT_COMPUTED, "y"), one(21, "v1", NOT_COMPUTED)):
        assert decide([other], first.cursor).score == []
    assert decide([], decide([], "").cursor).score == []
