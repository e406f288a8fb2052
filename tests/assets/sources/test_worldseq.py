"""Full artifacts that can be read: what each part of them becomes, however it is written."""

import datetime as dt
import hashlib
import json
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.attempts.contract import DAY_METRICS, WORLDSEQ_PARTS
from assets.contract import conform, schema, table_name
from assets.sources import worldseq, worldseq_types
from assets.sources.documents import CANDIDATES, SIDE_FILES
from assets.vocabulary import FINALIZATION_STATUSES, OUTCOMES, PRIMARY_METRICS
from tests.assets.sources.worldseq_documents import (
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
        for contract in WORLDSEQ_PARTS:
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
        "vanished": False,
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


def test_days_keep_the_order_of_the_document() -> None:
    shuffled = changed("trajectory", [FULL["trajectory"][index] for index in (2, 0, 1)])
    assert decode(shuffled).frames["trajectory_days"]["day"].to_list() == [2, 0, 1]


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
