"""Documents that can be read: what each of the four shapes becomes, and what is deliberately let through."""

import datetime as dt
import hashlib
import json
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.attempts.contract import DAY_METRICS, PARTS
from assets.contract import conform, schema, table_name
from assets.sources import worldseq, worldseq_types
from assets.sources.documents import CANDIDATES, SIDE_FILES
from assets.vocabulary import FINALIZATION_STATUSES, OUTCOMES, PRIMARY_METRICS
from tests.assets.sources.worldseq_documents import (
    ABSENT,
    CASE,
    DAY,
    FINALIZER,
    FULL,
    HARBOR,
    MODIFIED,
    REWARD,
    as_bytes,
    changed,
    decode,
    document,
    named,
    only,
)
from tests.reference.generate import attempts, to_bytes


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.drop("document", "attempt_id", "landed_on").to_dicts()


def test_every_frame_fulfils_its_contract() -> None:
    mixed = [FULL, named("f", FINALIZER), named("h", HARBOR), {"cases": [named("c", CASE)], "failed": 0}, REWARD, b"{"]
    for decoded in (decode(*mixed), decode()):
        for contract in PARTS:
            frame = decoded.frames[table_name(contract)]
            assert dict(frame.schema) == {"document": pl.Int64(), **schema(contract)}
            conform(contract, frame.drop("document"))
        assert dict(decoded.candidates.schema) == CANDIDATES
        assert dict(decoded.side_files.schema) == SIDE_FILES


def test_documents_are_numbered_from_the_first() -> None:
    documents = [document(one, f"{number}.json") for number, one in enumerate([{"cases": [CASE, CASE]}, REWARD, FULL])]
    decoded = worldseq.decode(documents, worldseq.Limits(), 100)
    assert decoded.candidates["document"].to_list() == [100, 101, 102, 103]
    assert decoded.side_files["document"].to_list() == [104]
    assert decoded.next_document == 105


def test_the_attempt_of_a_full_artifact() -> None:
    content = as_bytes(FULL)
    decoded = decode(document(content))
    row = only(decoded.frames["attempts"])
    task = json.dumps(FULL["task"], sort_keys=True, separators=(",", ":")).encode()
    assert row == {
        "document": 0,
        "attempt_id": "worldseq:att-1",
        "source": "worldseq",
        "landed_on": DAY,
        "uri": "memory://store/worldseq/2026-11-29/a.json",
        "shape": "full",
        "campaign_id": "cmp",
        "arm_id": "treatment",
        "family_id": "pricing",
        "company_id": "acme",
        "task_id": "raise-price",
        "scenario_id": "s1",
        "repeat": 1,
        "agent_name": "planner",
        "agent_version": "2.1",
        "model_name": "m-large",
        "outcome": "completed",
        "failure_kind": None,
        "failure_message": None,
        "started_at": dt.datetime(2026, 11, 29, 1, 2, 3, tzinfo=dt.UTC),
        "started_at_text": None,
        "finished_at": dt.datetime(2026, 11, 29, 1, 55, tzinfo=dt.UTC),
        "finished_at_text": None,
        "primary_metric": "net_assets",
        "horizon_days": 2,
        "case_digest": hashlib.sha256(task).hexdigest(),
        "accepted_decisions": 90,
        "player_calls": 400,
        "elapsed_seconds": 3100.5,
        "reported_tokens": 812_345,
        "token_budget": 2_000_000,
        "finalization_status": "completed",
        "finalized_at": dt.datetime(2026, 11, 29, 1, 56, tzinfo=dt.UTC),
        "finalized_at_text": None,
        "last_modified": MODIFIED,
        "has_evidence": True,
        "recorded_verified": True,
        "recorded_eligible": True,
        "recorded_primary_value": 250_000.0,
        "unknown_answers": 0,
        "unknown_evidence": 0,
        "identical_copies": 0,
    }
    assert only(decoded.candidates)["digest"] == hashlib.sha256(content).hexdigest()


def test_the_parts_of_a_full_artifact() -> None:
    frames = decode(FULL).frames
    day = rows(frames["trajectory_days"])[1]
    assert day == {
        **dict.fromkeys(DAY_METRICS.values()),
        "day": 1,
        "cash_cents": 5_000_001,
        "min_cash_cents": 4_000_000,
        "spend_cents": 10,
        "active_paying_accounts": 20,
        "shortfall_units": 0.5,
        "prices": [{"product": "core", "cents": 1_900}, {"product": "addon", "cents": 900}],
    }
    predicates = {
        row["predicate_id"]: {k: v for k, v in row.items() if v is not None} for row in rows(frames["task_predicates"])
    }
    assert predicates["price"] == {
        "part": "constraints",
        "position": 1,
        "predicate_id": "price",
        "kind": "price_bounds",
        "min_cents": 500,
        "max_cents": 9_900,
    }
    assert predicates["deal"] == {
        "part": "constraints",
        "position": 3,
        "predicate_id": "deal",
        "kind": "agreement",
        "agreement_id": "supplier-1",
        "agreement_status": "signed",
        "by_day": 1,
    }
    assert predicates["keep"] == {
        "part": "objectives",
        "position": 0,
        "predicate_id": "keep",
        "kind": "objective",
        "metric": "activePayingAccounts",
        "min_value": 20.0,
        "from_day": 1,
        "to_day": 2,
    }
    cause, _, price = rows(frames["questions"])
    assert (cause["required"], price["required"]) == (True, False)
    assert cause["equivalence_groups"] == [["A", "B"], ["C"]]
    assert (cause["truth"], price["truth"]) == ("A", None)
    assert (price["action_state"], price["supported_conclusion"], price["factual_prefix_digest"]) == (
        "available",
        ["decrease"],
        "p1",
    )
    assert rows(frames["agreements"]) == [
        {"position": 0, "agreement_id": "supplier-1", "status": "signed", "on_day": 1}
    ]
    baseline, intervention = rows(frames["branches"])
    assert (baseline["branch"], intervention["branch"]) == ("baseline", "intervention")
    assert intervention["day_values"] == [{"day": 2, "value": 34.0}]
    first, second = rows(frames["answers"])
    assert first["probabilities"] == [
        {"candidate": "A", "probability": 0.4},
        {"candidate": "B", "probability": 0.4},
        {"candidate": "C", "probability": 0.2},
    ]
    assert (first["conclusion"], first["unresolved"]) == (["A", "B"], True)
    assert (second["prediction"], second["probabilities"], second["unresolved"]) == (5_100_000.0, None, False)


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
        ("verification.constraints.0.id", "null", [("constraint:[0]", 1.0, "boolean", None)]),
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


@pytest.mark.parametrize(
    "part", ["trajectory", "answers", "evidence", "verification", "finalization", "usage", "agreements", "failure"]
)
def test_optional_parts_may_be_absent_or_null(part: str) -> None:
    path = "attempt.failure" if part == "failure" else part
    absent, null = decode(changed(path, ABSENT)), decode(changed(path, None))
    assert absent.quarantine.is_empty()
    for name, frame in absent.frames.items():
        assert_frame_equal(frame, null.frames[name])


def test_a_failed_attempt_may_lack_everything_but_its_identity() -> None:
    failed = {
        "format": "worldseq-attempt/1",
        "attempt": {
            "attemptId": "x",
            "outcome": "agent_failure",
            "failure": {"kind": "crash", "message": "a\n😀" * 9_999},
        },
    }
    decoded = decode(failed)
    row = only(decoded.frames["attempts"])
    assert row["failure_message"] == "a\n😀" * 9_999
    assert row["has_evidence"] is False
    assert decoded.frames["recorded_values"].is_empty()


@pytest.mark.parametrize(
    "identifier", ["a", "😀" * 200, 'quo"te', "sla/sh\\", " ", "<script>alert(1)</script>", "=cmd()", "ñandú", "\u200d"]
)
def test_identifiers_are_kept_as_they_are(identifier: str) -> None:
    base = changed("answers.0.questionId", identifier, changed("task.questions.0.id", identifier, named(identifier)))
    decoded = decode(base)
    assert decoded.quarantine.is_empty()
    assert decoded.frames["attempts"]["attempt_id"].to_list() == [f"worldseq:{identifier}"]
    assert identifier in decoded.frames["answers"]["question_id"].to_list()
    assert (
        only(decode(json.dumps(base, ensure_ascii=False).encode()).frames["attempts"])["attempt_id"][9:] == identifier
    )


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


def test_days_keep_the_order_of_the_document() -> None:
    shuffled = changed("trajectory", [FULL["trajectory"][index] for index in (2, 0, 1)])
    assert decode(shuffled).frames["trajectory_days"]["day"].to_list() == [2, 0, 1]


@pytest.mark.parametrize("text", ["2026-11-29T01:02:03", "2026-11-29T01:02:03.25"])
def test_a_naive_time_is_kept_as_text(text: str) -> None:
    row = only(decode(changed("attempt.startedAt", text, changed("finalization.finalizedAt", text))).frames["attempts"])
    assert (row["started_at"], row["started_at_text"]) == (None, text)
    assert (row["finalized_at"], row["finalized_at_text"]) == (None, text)


def test_how_a_document_is_written_does_not_matter() -> None:
    plain = decode(FULL)
    for raw in (json.dumps(FULL, indent=2).encode(), b"\xef\xbb\xbf" + as_bytes(FULL) + b"\r\n"):
        decoded = decode(raw)
        for name, frame in plain.frames.items():
            assert_frame_equal(frame, decoded.frames[name])


def test_the_case_digest_ignores_nulls_and_order() -> None:
    digests = {
        only(decode(content).frames["attempts"])["case_digest"]
        for content in (FULL, changed("task.note", None), json.dumps(FULL, sort_keys=True, indent=1).encode())
    }
    assert len(digests) == 1
    assert only(decode(changed("task.note", 1)).frames["attempts"])["case_digest"] not in digests


def test_the_careful_reading_agrees_with_the_fast_one(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [to_bytes(attempt) for attempt in attempts(seed=11, count=300)]
    documents = [document(content, f"{number}.json") for number, content in enumerate(contents)]
    fast = worldseq.decode(documents, worldseq.Limits())
    monkeypatch.setattr(worldseq, "_glance", lambda *_: None)
    careful = worldseq.decode(documents, worldseq.Limits())
    assert fast.quarantine.is_empty()
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, careful.frames[name])
    assert_frame_equal(fast.candidates, careful.candidates)


def test_decoding_agrees_with_the_plain_values() -> None:
    contents = [to_bytes(attempt) for attempt in attempts(seed=12, count=200)]
    values = [json.loads(content) for content in contents]
    frames = decode(*contents).frames
    assert frames["attempts"]["attempt_id"].to_list() == [
        f"worldseq:{value['attempt']['attemptId']}" for value in values
    ]
    expected_days = [
        (number, *(entry.get(name) for name in ("day", *DAY_METRICS)), list((entry.get("prices") or {}).items()))
        for number, value in enumerate(values)
        for entry in value.get("trajectory") or []
        if entry["day"] <= ((value.get("task") or {}).get("horizonDays") or 0)
    ]
    days = frames["trajectory_days"].drop("attempt_id", "landed_on").rows()
    assert [(*day[:-1], [tuple(price.values()) for price in day[-1] or []]) for day in days] == expected_days
    asked = [{question["id"] for question in (value.get("task") or {}).get("questions") or []} for value in values]
    expected_answers = [
        (number, answer["questionId"], position, answer.get("sequence"), answer["submittedOnDay"], answer["status"])
        for number, value in enumerate(values)
        for position, answer in enumerate(value.get("answers") or [])
        if answer["questionId"] in asked[number]
    ]
    columns = ("document", "question_id", "position", "sequence", "submitted_on_day", "status")
    assert frames["answers"].select(columns).rows() == expected_answers


def test_the_declared_types_know_the_shared_vocabularies() -> None:
    fields = {
        (worldseq_types.Identity, "outcome"): OUTCOMES,
        (worldseq_types.TaskContract, "primary_metric"): PRIMARY_METRICS,
        (worldseq_types.Finalization, "status"): FINALIZATION_STATUSES,
    }
    for (part, field), vocabulary in fields.items():
        assert all(f"'{value}'" in repr(part.__annotations__[field]) for value in vocabulary)
