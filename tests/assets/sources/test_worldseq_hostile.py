"""Documents that cannot be read: each is one quarantine row with its exact place, and its neighbours decode."""

import json
from typing import Any

import pytest

from tests.assets.sources.worldseq_documents import (
    ABSENT,
    CASE,
    FINALIZER,
    FULL,
    HARBOR,
    REWARD,
    as_bytes,
    changed,
    decode,
    document,
    named,
    only,
    refused,
)

VALID = as_bytes(FULL)


def spliced(path: str, text: str) -> bytes:
    """The full document with raw JSON text at the path."""
    return as_bytes(changed(path, "@@@")).replace(b'"@@@"', text.encode())


@pytest.mark.parametrize(
    ("content", "reason", "path"),
    [
        (b"", "empty", "byte 0"),
        (b" \n\t", "empty", "byte 0"),
        (b"\xef\xbb\xbf", "empty", "byte 0"),
        (VALID[:500], "not_json", "byte 500"),
        (VALID[:-1], "not_json", f"byte {len(VALID) - 1}"),
        (VALID + b"}", "not_json", f"byte {len(VALID)}"),
        (b"{'a': 1}", "not_json", "byte 1"),
        (b"\xef\xbb\xbf{'a': 1}", "not_json", "byte 4"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "not_json", "byte 3"),
        ('{"é": nope}'.encode(), "not_json", "byte 7"),
        (b"[" * 20_000, "too_deep", "byte 64"),
        (b"[" * 20_000 + b"]" * 20_000, "too_deep", "byte 64"),
        (b'{"a":"x\xff"}', "not_utf8", "byte 7"),
        (b'{"a":NaN}', "not_json", "byte 5"),
        (b'{"NaN":"NaN","a":[1,-Infinity]}', "not_json", "byte 20"),
        (b"3", "unknown_shape", "$"),
        (b"[{}]", "unknown_shape", "$"),
        (b"{}", "unknown_shape", "$"),
        (b'{"cases":{}}', "unknown_shape", "$"),
        (b'{"format":"worldseq-attempt/2"}', "unknown_shape", "$.format"),
        (b'{"format":7}', "unknown_shape", "$.format"),
    ],
)
def test_what_is_no_known_document(content: bytes, reason: str, path: str) -> None:
    assert refused(content) == ("decode", reason, path)


@pytest.mark.parametrize("text", ["1.5", "1.0", "1e2", '"1"', "true", "[]", "{}"])
def test_an_integer_is_written_as_one(text: str) -> None:
    assert refused(spliced("task.horizonDays", text)) == ("decode", "wrong_type", "$.task.horizonDays")
    assert refused(spliced("trajectory.1.cashCents", text)) == ("decode", "wrong_type", "$.trajectory[1].cashCents")


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("trajectory.0.cashCents", "10000000000001", "$.trajectory[0].cashCents"),
        ("trajectory.0.cashCents", "-10000000000001", "$.trajectory[0].cashCents"),
        ("trajectory.0.cashCents", str(2**63), "$.trajectory[0].cashCents"),
        ("trajectory.0.cashCents", "9" * 5_000, "$.trajectory[0].cashCents"),
        ("trajectory.0.cashCents", "1e999", "$.trajectory[0].cashCents"),
        ("trajectory.0.spendCents", "-1", "$.trajectory[0].spendCents"),
        ("trajectory.0.activePayingAccounts", "-1", "$.trajectory[0].activePayingAccounts"),
        ("trajectory.0.activePayingAccounts", str(2**53 + 1), "$.trajectory[0].activePayingAccounts"),
        ("trajectory.0.shortfallUnits", "1e999", "$.trajectory[0].shortfallUnits"),
        ("trajectory.0.shortfallUnits", "-1e999", "$.trajectory[0].shortfallUnits"),
        ("trajectory.0.shortfallUnits", "9" * 400, "$.trajectory[0].shortfallUnits"),
        ("trajectory.0.day", "100001", "$.trajectory[0].day"),
        ("trajectory.0.day", "-1", "$.trajectory[0].day"),
        ("trajectory.0.prices.core", "10000000000001", "$.trajectory[0].prices.core"),
        ("task.horizonDays", "100001", "$.task.horizonDays"),
        ("task.constraints.0.maxCents", "10000000000001", "$.task.constraints[0].maxCents"),
        ("task.constraints.3.byDay", "-1", "$.task.constraints[3].byDay"),
        ("task.constraints.4.minRatio", "1e999", "$.task.constraints[4].minRatio"),
        ("task.constraints.5.playerCalls", "-1", "$.task.constraints[5].playerCalls"),
        ("task.objectives.0.min", "1e999", "$.task.objectives[0].min"),
        ("task.questions.2.scale", "1e999", "$.task.questions[2].scale"),
        ("task.questions.2.checkpointDay", "100001", "$.task.questions[2].checkpointDay"),
        ("attempt.repeat", "0", "$.attempt.repeat"),
        ("attempt.repeat", str(2**63), "$.attempt.repeat"),
        ("answers.0.sequence", "-1", "$.answers[0].sequence"),
        ("answers.0.submittedOnDay", "100001", "$.answers[0].submittedOnDay"),
        ("agreements.0.onDay", "100001", "$.agreements[0].onDay"),
        ("usage.elapsedSeconds", "-0.5", "$.usage.elapsedSeconds"),
        ("usage.reportedTokens", str(2**53 + 1), "$.usage.reportedTokens"),
        ("evidence.q-price.baseline.values", '{"2":1e999}', "$.evidence.q-price.baseline.values.2"),
        ("evidence.q-price.baseline.values", '{"100001":1}', "$.evidence.q-price.baseline.values.100001"),
    ],
)
def test_numbers_out_of_range(path: str, text: str, place: str) -> None:
    assert refused(spliced(path, text)) == ("decode", "out_of_range", place)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("attempt", [], "$.attempt"),
        ("attempt.agent", "planner", "$.attempt.agent"),
        ("attempt.failure", {"message": 3}, "$.attempt.failure.message"),
        ("attempt.startedAt", 1_700_000_000, "$.attempt.startedAt"),
        ("task", [], "$.task"),
        ("task.constraints", {}, "$.task.constraints"),
        ("task.constraints.1", None, "$.task.constraints[1]"),
        ("task.questions.2.scale", "10", "$.task.questions[2].scale"),
        ("task.questions.0.candidates", ["A", 3], "$.task.questions[0].candidates[1]"),
        ("task.questions.0.equivalenceGroups", [["A"], "B"], "$.task.questions[0].equivalenceGroups[1]"),
        ("task.questions.0.requirement", [], "$.task.questions[0].requirement"),
        ("trajectory", {}, "$.trajectory"),
        ("trajectory.2", 7, "$.trajectory[2]"),
        ("trajectory.0.prices", [], "$.trajectory[0].prices"),
        ("trajectory.0.prices.core", 1.5, "$.trajectory[0].prices.core"),
        ("trajectory.2.prices", {'we "ird].x': True}, '$.trajectory[2].prices.we "ird].x'),
        ("answers.1.status", 1, "$.answers[1].status"),
        ("answers.0", "yes", "$.answers[0]"),
        ("evidence", [], "$.evidence"),
        ("evidence.q-cause", 3, "$.evidence.q-cause"),
        ("evidence.q-cause.truth", 3, "$.evidence.q-cause.truth"),
        ("evidence.q-price.baseline.verified", 1, "$.evidence.q-price.baseline.verified"),
        ("evidence.q-price.baseline.values", {"2": "x"}, "$.evidence.q-price.baseline.values.2"),
        ("evidence.q-price.baseline.values", {"two": 2}, "$.evidence.q-price.baseline.values.two"),
        ("usage", 3, "$.usage"),
        ("finalization", "completed", "$.finalization"),
    ],
)
def test_wrong_types(path: str, value: Any, place: str) -> None:
    assert refused(changed(path, value)) == ("decode", "wrong_type", place)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("attempt", "$.attempt"),
        ("attempt.attemptId", "$.attempt.attemptId"),
        ("attempt.outcome", "$.attempt.outcome"),
        ("task", "$.task"),
        ("task.horizonDays", "$.task.horizonDays"),
        ("task.primaryMetric", "$.task.primaryMetric"),
        ("task.constraints.0.id", "$.task.constraints[0].id"),
        ("task.constraints.2.kind", "$.task.constraints[2].kind"),
        ("task.constraints.3.agreementId", "$.task.constraints[3].agreementId"),
        ("task.constraints.4.toDay", "$.task.constraints[4].toDay"),
        ("task.objectives.0.metric", "$.task.objectives[0].metric"),
        ("task.questions.0.candidates", "$.task.questions[0].candidates"),
        ("task.questions.1.scale", "$.task.questions[1].scale"),
        ("task.questions.2.dueOnDay", "$.task.questions[2].dueOnDay"),
        ("task.questions.2.kind", "$.task.questions[2].kind"),
        ("answers.1.questionId", "$.answers[1].questionId"),
        ("agreements.0.agreementId", "$.agreements[0].agreementId"),
        ("agreements.0.status", "$.agreements[0].status"),
        ("trajectory.1.day", "$.trajectory[1].day"),
    ],
)
def test_missing_fields_absent_or_null(path: str, place: str) -> None:
    assert refused(changed(path, ABSENT)) == ("decode", "missing_field", place)
    assert refused(changed(path, None)) == ("decode", "missing_field", place)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("attempt.outcome", "$.attempt.outcome"),
        ("task.primaryMetric", "$.task.primaryMetric"),
        ("task.questions.1.kind", "$.task.questions[1].kind"),
        ("task.questions.0.requirement.kind", "$.task.questions[0].requirement.kind"),
        ("finalization.status", "$.finalization.status"),
    ],
)
def test_unknown_values_of_closed_vocabularies(path: str, place: str) -> None:
    assert refused(changed(path, "Completed")) == ("decode", "unknown_value", place)


@pytest.mark.parametrize("identifier", ["", "a\nb", "a\x00b", "\x7f", "\x85", "a" * 201, "😀" * 201, "\ud800"])
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("attempt.attemptId", "$.attempt.attemptId"),
        ("attempt.campaignId", "$.attempt.campaignId"),
        ("task.constraints.1.id", "$.task.constraints[1].id"),
        ("task.constraints.3.agreementId", "$.task.constraints[3].agreementId"),
        ("task.objectives.0.id", "$.task.objectives[0].id"),
        ("task.questions.1.id", "$.task.questions[1].id"),
        ("answers.0.questionId", "$.answers[0].questionId"),
        ("agreements.0.agreementId", "$.agreements[0].agreementId"),
    ],
)
def test_identifiers_out_of_range(identifier: str, path: str, place: str) -> None:
    assert refused(changed(path, identifier)) == ("decode", "bad_identifier", place)


@pytest.mark.parametrize("path", ["attempt.startedAt", "attempt.finishedAt", "finalization.finalizedAt"])
@pytest.mark.parametrize("time", ["", "yesterday", "2026-11-29", "2026-02-30T00:00:00Z", "2026-11-29T01:02:03+24:00"])
def test_malformed_times(path: str, time: str) -> None:
    assert refused(changed(path, time)) == ("decode", "bad_time", f"$.{path}")


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("trajectory.2.day", 0, "$.trajectory[2].day"),
        ("trajectory.1.day", 2, "$.trajectory[2].day"),
    ],
)
def test_a_day_twice(path: str, value: int, place: str) -> None:
    assert refused(changed(path, value)) == ("contract", "duplicate_day", place)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("task.constraints.5.id", "$.task.constraints[5].id"),
        ("task.questions.2.id", "$.task.questions[2].id"),
    ],
)
def test_an_identifier_twice_in_its_list(path: str, place: str) -> None:
    first = "budget" if "constraints" in path else "q-cause"
    assert refused(changed(path, first)) == ("contract", "duplicate_id", place)


def test_of_repeated_members_every_one_is_checked_and_the_last_wins() -> None:
    good = VALID.replace(b'"horizonDays":2', b'"horizonDays":9,"horizonDays":2')
    assert only(decode(good).frames["attempts"])["horizon_days"] == 2
    for text in (b'"horizonDays":1.5,"horizonDays":2', b'"horizonDays":2,"horizonDays":1.5'):
        bad = VALID.replace(b'"horizonDays":2', text)
        assert refused(bad) == ("decode", "wrong_type", "$.task.horizonDays")
    task = json.dumps(FULL["task"], separators=(",", ":")).encode()
    twice = VALID.replace(b'"task":', b'"task":{"horizonDays":"x"},"task":')
    escaped = VALID.replace(b'"task":', b'"t\\u0061sk":{"horizonDays":"x"},"task":')
    assert task in twice
    assert refused(twice) == ("decode", "wrong_type", "$.task.horizonDays")
    assert refused(escaped) == ("decode", "wrong_type", "$.task.horizonDays")
    assert refused(VALID.replace(b'"day":0', b'"day":"0","day":0')) == ("decode", "wrong_type", "$.trajectory[0].day")


def test_depth_counts_brackets_outside_strings_only() -> None:
    nested = "[" * 62 + "]" * 62
    assert decode(spliced("attempt.note", nested)).frames["attempts"].height == 1
    assert refused(spliced("attempt.note", f"[{nested}]"))[:2] == ("decode", "too_deep")
    assert refused(spliced("verification.note", f"[{nested}]"))[:2] == ("decode", "too_deep")
    assert refused(spliced("task.note", f"[{nested}]"))[:2] == ("decode", "too_deep")
    assert refused(spliced("answers.0.prediction", f"[{nested}]"))[:2] == ("decode", "too_deep")
    for name in (b"verification", b"verif\\u0069cation"):
        first = b'"' + name + b'":' + f'[[{nested}]],"verification":'.encode()
        assert refused(VALID.replace(b'"verification":', first))[:2] == ("decode", "too_deep")
    hidden = '["]",' * 70 + "0" + ',"["]' * 70
    assert refused(spliced("attempt.note", hidden))[:2] == ("decode", "too_deep")
    text = '"' + "[{" * 100 + '\\"[[[' + '"'
    assert decode(spliced("attempt.failure", f'{{"message":{text}}}')).frames["attempts"].height == 1


def test_quarantine_names_the_attempt_where_it_can() -> None:
    decoded = decode(
        changed("task.horizonDays", "x"), changed("attempt.attemptId", "a\nb"), changed("trajectory.1.day", 0)
    )
    assert decoded.quarantine["attempt_id"].to_list() == ["worldseq:att-1", None, "worldseq:att-1"]


@pytest.mark.parametrize(
    ("base", "path", "value", "reason", "place"),
    [
        (FINALIZER, "attempt", ABSENT, "missing_field", "$.attempt"),
        (FINALIZER, "attempt.attemptId", "", "bad_identifier", "$.attempt.attemptId"),
        (FINALIZER, "finalization.status", "done", "unknown_value", "$.finalization.status"),
        (HARBOR, "attempt.outcome", "won", "unknown_value", "$.attempt.outcome"),
        (HARBOR, "finalization.finalizedAt", "soon", "bad_time", "$.finalization.finalizedAt"),
        ({**FINALIZER, "verification": None}, "attempt.outcome", ABSENT, "missing_field", "$.attempt.outcome"),
    ],
)
def test_recorded_shapes_are_strict_about_identity(
    base: dict[str, Any], path: str, value: Any, reason: str, place: str
) -> None:
    assert refused(changed(path, value, base)) == ("decode", reason, place)


def test_a_broken_case_stands_alone() -> None:
    cases = [named("x", CASE), changed("attempt.repeat", 0, named("y", CASE)), 7, named("z", CASE)]
    decoded = decode({"cases": cases, "completed": 2})
    assert decoded.frames["attempts"]["attempt_id"].to_list() == ["worldseq:x", "worldseq:z"]
    assert decoded.quarantine.select("stage", "reason", "path", "attempt_id").rows() == [
        ("decode", "out_of_range", "$.cases[1].attempt.repeat", "worldseq:y"),
        ("decode", "wrong_type", "$.cases[2]", None),
    ]


def test_each_line_is_a_document_and_a_torn_one_stands_alone() -> None:
    lines = [as_bytes(named("x")), b"", as_bytes(named("y"))[:100], as_bytes(changed("task.horizonDays", 1.5))]
    decoded = decode(document(b"\n".join([*lines, as_bytes(named("z"))]) + b"\r\n", "many.jsonl"))
    assert decoded.frames["attempts"]["attempt_id"].to_list() == ["worldseq:x", "worldseq:z"]
    assert decoded.candidates["path"].to_list() == ["line 1", "line 5"]
    assert decoded.quarantine.select("reason", "path").rows() == [
        ("not_json", "line 3: byte 100"),
        ("wrong_type", "line 4: $.task.horizonDays"),
    ]
    assert only(decode(document(b"\n", "none.jsonl")).quarantine)["reason"] == "empty"


def test_a_side_file_is_recognised_by_its_content() -> None:
    decoded = decode(document(REWARD, "job/anything.json"))
    assert only(decoded.side_files)["directory"] == "memory://store/worldseq/2026-11-29/job"
    assert decoded.quarantine.is_empty()
    assert decoded.frames["recorded_values"]["field"].to_list() == list(REWARD)
