"""Counts of what a rule set changed."""

import datetime as dt

from assets.attempts.contract import Attempts
from assets.reconciliation.change_summary import ClassChange, Counts, Responsible, Summary, summary
from tests.assets.reconciliation.changed_results import DAY, Row, changed, frame, judged, paid, verdict
from tests.reference.rule_changes import Side

LATER = DAY + dt.timedelta(days=1)


def attempt(attempt_id: str, campaign_id: str | None, landed_on: dt.date = DAY) -> Row:
    return {"attempt_id": attempt_id, "landed_on": landed_on, "campaign_id": campaign_id}


def summed(before: Side, after: Side, *attempts: Row) -> Summary:
    return summary(changed(before, after).lazy(), frame(Attempts, attempts))


def test_attempts_are_counted_overall_and_per_campaign() -> None:
    before = Side(
        [verdict("eligible", 1.0, id_) for id_ in "abcd"],
        [paid(1.5, attempt_id=id_) for id_ in "abcd"],
    )
    after = Side(
        [
            verdict("ineligible", 1.0, "a"),
            verdict("ineligible", 2.0, "b"),
            verdict("eligible", 1.0, "c"),
            verdict("eligible", 1.0, "d"),
            verdict("inconclusive", None, "e"),
        ],
        [paid(reward, attempt_id=id_) for id_, reward in {"a": 0.0, "b": 0.0, "c": 1.4, "d": 1.5}.items()],
        [
            judged("floor", "fail"),
            judged("end", "fail", 1, "objective"),
            judged("floor", "fail", attempt_id="b"),
            judged("floor", "fail", attempt_id="d"),
        ],
    )
    campaigns = {"a": "two", "b": "one", "c": "one", "d": "one"}
    found = summed(before, after, *(attempt(*item) for item in campaigns.items()), attempt("c", "two", LATER))
    lost = ClassChange("eligible", "ineligible", 1)
    assert list(found.campaigns) == ["one", "two", None]
    assert found.campaigns["one"] == Counts(2, 1, 1, 2, [lost], [Responsible("floor", "cash_floor", 1)])
    assert found.campaigns["two"] == Counts(
        1, 1, 0, 1, [lost], [Responsible("end", "objective", 1), Responsible("floor", "cash_floor", 1)]
    )
    assert found.campaigns[None] == Counts(1, 1, 0, 0, [ClassChange(None, "inconclusive", 1)], [])
    assert found.overall == Counts(
        attempts=4,
        class_=3,
        primary_value=1,
        reward=3,
        classes=[ClassChange("eligible", "ineligible", 2), ClassChange(None, "inconclusive", 1)],
        predicates=[Responsible("floor", "cash_floor", 2), Responsible("end", "objective", 1)],
    )


def test_nothing_changed() -> None:
    assert summed(Side(), Side(), attempt("a", "one")) == Summary(Counts(), {})
