"""What is deliberately let through: players' nonsense, unknown fields, contracts that contradict themselves."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.assets.sources.worldseq_documents import (
    ABSENT,
    FULL,
    as_bytes,
    changed,
    decode,
    only,
)


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.drop("document", "attempt_id", "landed_on").to_dicts()


@pytest.mark.parametrize(
    "part", ["trajectory", "answers", "evidence", "verification", "finalization", "usage", "agreements", "failure"]
)
def test_optional_parts_may_be_absent_or_null(part: str) -> None:
    path = "attempt.failure" if part == "failure" else part
    absent, null = decode(changed(path, ABSENT)), decode(changed(path, None))
    assert absent.quarantine.is_empty()
    for name, frame in absent.frames.items():
        assert_frame_equal(frame, null.frames[name])


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("probabilities", '{"A":1e999,"B":0,"C":0}'),
        ("probabilities", '{"A":"1"}'),
        ("probabilities", '{"A":true}'),
        ("probabilities", '{"A":null}'),
        ("probabilities", "[0.5]"),
        ("probabilities", '{"A":[[[]]]}'),
        ("probabilities", "NULL".lower()),
        ("prediction", "1e999"),
        ("prediction", "9" * 400),
        ("prediction", "9" * 5_000),
        ("prediction", "true"),
        ("prediction", '"5"'),
        ("prediction", '{"a":{"b":[1]}}'),
        ("conclusion", '"A"'),
        ("conclusion", '["A",null]'),
        ("conclusion", '{"A":1}'),
        ("unresolved", "1"),
        ("unresolved", '"true"'),
        ("unresolved", "[1e999]"),
    ],
)
def test_nonsense_of_a_player_is_null_and_quarantines_nothing(field: str, text: str) -> None:
    raw = as_bytes(changed(f"answers.0.{field}", "@@@")).replace(b'"@@@"', text.encode())
    decoded = decode(raw)
    assert decoded.quarantine.is_empty()
    answer = rows(decoded.frames["answers"])[0]
    assert answer[field] is None
    untouched = {"probabilities", "conclusion", "unresolved"} - {field}
    assert all(answer[other] is not None for other in untouched)


@pytest.mark.parametrize(
    ("text", "number"), [("-0", 0.0), ("1e2", 100.0), ("1" + "0" * 300, 1e300), ("5e-324", 5e-324)]
)
def test_any_number_that_fits_a_double_is_a_prediction(text: str, number: float) -> None:
    raw = as_bytes(changed("answers.1.prediction", "@@@")).replace(b'"@@@"', text.encode())
    assert rows(decode(raw).frames["answers"])[1]["prediction"] == number


def test_lone_surrogates_outside_of_identifiers_are_kept_as_their_escape() -> None:
    raw = as_bytes(
        changed(
            "attempt.failure",
            {"message": "a\ud83d"},
            changed("answers.0.conclusion", ["\ud800"], changed("note", "\udfff")),
        )
    )
    decoded = decode(raw)
    assert decoded.quarantine.is_empty()
    assert only(decoded.frames["attempts"])["failure_message"] == "a\\ud83d"
    assert rows(decoded.frames["answers"])[0]["conclusion"] == ["\\ud800"]


def test_unknown_extra_fields_are_ignored() -> None:
    raw = as_bytes(FULL)
    for spot in (
        b'{"format"',
        b'{"attemptId"',
        b'{"day":0',
        b'{"questionId":"q-cash"',
        b'{"horizonDays"',
        b'{"status":"completed"',
    ):
        extra = raw.replace(spot, b'{"new":[1e999,{"\\ud800":' + b"9" * 5_000 + b"}]," + spot[1:])
        decoded = decode(extra)
        assert extra != raw
        assert decoded.quarantine.is_empty()
        assert decoded.frames["trajectory_days"].height == 3


def test_a_field_of_another_kind_is_an_unknown_extra_field() -> None:
    strange = changed("task.constraints.2.maxCents", "x", changed("task.questions.0.scale", [], FULL))
    strange = changed("evidence.q-cause.baseline", 5, changed("evidence.q-price.truth", 5, strange))
    strange = changed("evidence.q-cash", 7, changed("evidence.nobody", 7, strange))
    strange["task"]["constraints"].append({"id": "odd", "kind": "séance", "minCents": "x", "metric": 4})
    decoded = decode(strange)
    assert decoded.quarantine.is_empty()
    assert only(decoded.frames["attempts"])["unknown_evidence"] == 1
    assert decoded.frames["task_predicates"].filter(pl.col("predicate_id") == "odd")["kind"].to_list() == ["séance"]
    assert decoded.frames["branches"]["question_id"].unique().to_list() == ["q-price"]


def test_a_contract_that_contradicts_itself_is_still_a_contract() -> None:
    strange = changed("task.questions.1.scale", 0, changed("task.questions.0.equivalenceGroups", [["A"], []]))
    strange = changed("task.objectives.0", {"id": "none", "metric": "fame", "fromDay": 9, "toDay": 3}, strange)
    strange = changed("task.constraints.0", {"id": "b", "kind": "cash_bounds", "minCents": 5, "maxCents": -5}, strange)
    decoded = decode(strange)
    assert decoded.quarantine.is_empty()
    assert decoded.frames["task_predicates"].height == 7


def test_answers_and_evidence_for_unknown_questions_are_counted() -> None:
    strange = changed("answers.1.questionId", "nobody", FULL)
    strange["evidence"] = {**FULL["evidence"], "somebody": {"truth": "A"}, "none": None}
    decoded = decode(strange)
    row = only(decoded.frames["attempts"])
    assert (row["unknown_answers"], row["unknown_evidence"]) == (1, 2)
    assert rows(decoded.frames["answers"])[0]["position"] == 0
    assert decoded.frames["answers"].height == 1


def test_days_beyond_the_horizon_are_left_out() -> None:
    assert decode(changed("task.horizonDays", 1)).frames["trajectory_days"]["day"].to_list() == [0, 1]


@pytest.mark.parametrize("text", ["2026-11-29T01:02:03", "2026-11-29T01:02:03.25"])
def test_a_naive_time_is_kept_as_text(text: str) -> None:
    row = only(decode(changed("attempt.startedAt", text, changed("finalization.finalizedAt", text))).frames["attempts"])
    assert (row["started_at"], row["started_at_text"]) == (None, text)
    assert (row["finalized_at"], row["finalized_at_text"]) == (None, text)
