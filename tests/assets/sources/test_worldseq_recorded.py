"""What upstream recorded, in each of the four shapes; nonsense in it decides nothing and quarantines nothing."""

from typing import Any

import pytest

from tests.assets.sources.worldseq_documents import (
    ABSENT,
    CASE,
    FINALIZER,
    FULL,
    HARBOR,
    as_bytes,
    changed,
    decode,
    only,
)


def recorded(*contents: Any) -> list[tuple[Any, ...]]:
    return decode(*contents).frames["recorded_values"].select("field", "value", "value_type", "text").rows()


VERIFICATION = [
    ("verified", 1.0, "boolean", None),
    ("eligible", 1.0, "boolean", None),
    ("primary_value", 250_000.0, "number", None),
    ("primary_metric", None, "text", "net_assets"),
    ("net_assets_closing", 6_250_000.0, "number", None),
    ("constraint:budget", 1.0, "boolean", None),
    ("objective:keep", 1.0, "boolean", None),
    ("objective_worst:keep", 21.0, "number", None),
    ("score:q-cause", 0.96, "number", None),
    ("error:q-cause", 0.04, "number", None),
]


@pytest.mark.parametrize(
    ("content", "shape", "extra"),
    [
        (FULL, "full", []),
        (FINALIZER, "finalizer", []),
        (HARBOR, "harbor", [("reward", 1.1, "number", None)]),
        ({"cases": [CASE]}, "summary", []),
    ],
)
def test_each_shape_records_the_same(content: Any, shape: str, extra: list[tuple[Any, ...]]) -> None:
    attempt = only(decode(content).frames["attempts"])
    assert attempt["shape"] == shape
    assert attempt["primary_metric"] == "net_assets"
    assert (attempt["recorded_verified"], attempt["recorded_eligible"]) == (True, True)
    assert attempt["recorded_primary_value"] == 250_000.0
    assert attempt["has_evidence"] == (shape == "full")
    assert attempt["finalization_status"] == (None if shape == "summary" else "completed")
    assert recorded(content) == VERIFICATION + extra


def test_the_totals_of_a_summary_belong_to_no_attempt() -> None:
    summary = {"cases": [], "completed": 2, "failed": "x", "usage": {"tokens": 5, "by": {"day": [1]}, "none": None}}
    decoded = decode(summary)
    assert only(decoded.candidates)["attempt_id"] is None
    assert recorded(summary) == [
        ("summary:completed", 2.0, "number", None),
        ("summary:failed", None, "unreadable", '"x"'),
        ("summary:usage.tokens", 5.0, "number", None),
        ("summary:usage.by.day", None, "unreadable", "[1]"),
        ("summary:usage.none", None, "null", None),
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("verification", '"yes"', [("verification", None, "unreadable", '"yes"')]),
        ("verification.eligible", "1", [("eligible", None, "unreadable", "1")]),
        ("verification.verified", "null", [("verified", None, "null", None)]),
        ("verification.primaryValue", "1e999", [("primary_value", None, "unreadable", "1e999")]),
        ("verification.primaryValue", "true", [("primary_value", None, "unreadable", "true")]),
        ("verification.primaryMetric", '"fame"', [("primary_metric", None, "unreadable", '"fame"')]),
        ("verification.constraints", "{}", [("constraints", None, "unreadable", "{}")]),
        ("verification.constraints.0", "3", [("constraint:[0]", None, "unreadable", "3")]),
        (
            "verification.constraints.0.id",
            "null",
            [("constraint:[0]", None, "unreadable", '{"id":null,"satisfied":true}')],
        ),
        (
            "verification.assessments.0.questionId",
            "7",
            [("score:[0]", None, "unreadable", '{"questionId":7,"score":0.96,"groupBrier":0.04}')],
        ),
        ("verification.business", "7", [("business", None, "unreadable", "7")]),
        (
            "verification.business.objectives.0.worstValue",
            '"\\ud800"',
            [("objective_worst:keep", None, "unreadable", '"\\\\ud800"')],
        ),
        ("verification.assessments.0.groupBrier", "null", [("error:q-cause", None, "null", None)]),
    ],
)
def test_recorded_nonsense_is_a_row_and_quarantines_nothing(
    path: str, text: str, expected: list[tuple[Any, ...]]
) -> None:
    raw = as_bytes(changed(path, "@@@")).replace(b'"@@@"', text.encode())
    decoded = decode(raw)
    assert decoded.quarantine.is_empty()
    assert decoded.frames["trajectory_days"].height == 3
    for row in expected:
        assert row in recorded(raw)


def test_an_unreadable_record_decides_nothing() -> None:
    row = only(decode(changed("verification.verified", 1, FINALIZER)).frames["attempts"])
    assert (row["recorded_verified"], row["recorded_eligible"], row["outcome"]) == (None, True, "completed")
    row = only(decode(changed("verification.primaryMetric", "fame", FINALIZER)).frames["attempts"])
    assert row["primary_metric"] is None


def test_a_record_without_an_outcome_completed_where_it_verifies() -> None:
    row = only(decode(changed("attempt.outcome", ABSENT, FINALIZER)).frames["attempts"])
    assert row["outcome"] == "completed"
    failed = {**changed("attempt.outcome", "agent_failure", FINALIZER), "verification": None}
    assert only(decode(failed).frames["attempts"])["outcome"] == "agent_failure"
