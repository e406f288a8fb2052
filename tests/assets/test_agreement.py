"""The tables against a plain-Python reading of the rules, attempt by attempt, on generated documents."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.assets.verification import layer
from tests.assets.worldseq_layer import decoded
from tests.reference.generate import attempts
from tests.reference.model import Expected
from tests.reference.worldseq import expected, expected_recorded

COUNT = 5_000
SEED = 7
TOLERANCE = 1e-12

Key = str
Tables = dict[str, dict[Key, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return list(attempts(SEED, COUNT))


@pytest.fixture(scope="module")
def reference(documents: list[dict[str, Any]]) -> dict[Key, Expected]:
    return {f"worldseq:{document['attempt']['attemptId']}": expected(document) for document in documents}


@pytest.fixture(scope="module")
def tables(documents: list[dict[str, Any]]) -> Tables:
    made = decoded(documents)
    results = {
        "predicate_results": layer.predicates(made),
        "verifications": layer.verdicts(made),
        "assessment_scores": layer.scores(made),
        "rewards": layer.rewarded(made),
    }
    return {
        name: {str(key[0]): rows.to_dicts() for key, rows in table.partition_by("attempt_id", as_dict=True).items()}
        for name, table in results.items()
    }


def pairs(
    tables: Tables, reference: dict[Key, Expected], table: str, part: str | None = None
) -> Iterator[tuple[Key, dict[str, Any], Any]]:
    """Every row of the table beside what the reference expects; their numbers must agree."""
    for key, whole in reference.items():
        rows = tables[table].get(key, [])
        wanted = [whole] if part is None else getattr(whole, part)
        wanted = wanted if isinstance(wanted, list) else [wanted]
        assert len(rows) == len(wanted), (key, rows, wanted)
        for row, one in zip(rows, wanted, strict=True):
            yield key, row, one


def same(found: Any, wanted: Any, tolerance: float = 0.0) -> bool:
    """Equal, signs of zero included; doubles within the absolute or relative tolerance where one is given."""
    if isinstance(found, float) and wanted is not None:
        if tolerance and abs(found - wanted) <= tolerance * max(1.0, abs(wanted)):
            return True
        return found == wanted and math.copysign(1.0, found) == math.copysign(1.0, float(wanted))
    return type(found) is type(wanted) and bool(found == wanted)


VERDICT = (
    "eligible",
    "verified",
    "basis",
    "failed_predicates",
    "inconclusive_predicates",
    "primary_metric",
    "primary_value",
    "primary_unit",
    "net_assets_closing_cents",
)


def test_classes_and_primary_values_agree(tables: Tables, reference: dict[Key, Expected]) -> None:
    differing = [
        (key, name, row[name], getattr(one, name))
        for key, row, one in pairs(tables, reference, "verifications")
        for name in VERDICT
        if not same(row[name], getattr(one, name))
    ]
    classes = [
        (key, row["class"], one.class_)
        for key, row, one in pairs(tables, reference, "verifications")
        if row["class"] != one.class_
    ]
    assert (differing[:5], classes[:5]) == ([], [])


def test_predicates_agree(tables: Tables, reference: dict[Key, Expected]) -> None:
    names = ("kind", "predicate_id", "outcome", "reason", "first_breach_day")
    differing = [
        (key, name, row, one)
        for key, row, one in pairs(tables, reference, "predicate_results", "predicates")
        for name in names
        if not same(row[name], getattr(one, name))
    ]
    assert differing[:5] == []


def test_scores_agree(tables: Tables, reference: dict[Key, Expected]) -> None:
    exact = ("question_id", "kind", "answer_status", "prediction", "error_kind", "required")
    differing = [
        (key, name, row, one)
        for key, row, one in pairs(tables, reference, "assessment_scores", "assessments")
        for name in (*exact, "score", "error")
        if not same(row[name], getattr(one, name), 0.0 if name in exact else TOLERANCE)
    ]
    assert differing[:5] == []


def test_rewards_agree(tables: Tables, reference: dict[Key, Expected]) -> None:
    differing = [
        (key, name, row, one)
        for key, row, one in pairs(tables, reference, "rewards", "reward")
        for name in ("reward", "eligible", "verified", "primary_value")
        if not same(row[name], getattr(one, name), TOLERANCE if name == "reward" else 0.0)
    ]
    assert differing[:5] == []


def test_the_comparison_reaches_every_outcome(reference: dict[Key, Expected]) -> None:
    classes = Counter(one.class_ for one in reference.values())
    outcomes = Counter(row.outcome for one in reference.values() for row in one.predicates)
    statuses = Counter(row.answer_status for one in reference.values() for row in one.assessments)
    assert (len(classes), min(classes.values()) > 100) == (5, True)
    assert (len(outcomes), min(outcomes.values()) > 1_000) == (3, True)
    assert (len(statuses), min(statuses.values()) > 100) == (6, True)


RECORDED = (
    "eligible",
    "verified",
    "basis",
    "primary_metric",
    "primary_value",
    "primary_unit",
    "net_assets_closing_cents",
)


@pytest.mark.parametrize("shape", ["finalizer", "harbor", "summary"])
def test_records_without_evidence_are_taken_as_they_are(documents: list[dict[str, Any]], shape: Any) -> None:
    told = [one for one in documents if isinstance(one.get("verification"), dict)]
    assert len(told) > COUNT // 4
    made = decoded([recorded_as(shape, one) for one in told])
    verdicts = {row["attempt_id"]: row for row in layer.verdicts(made).to_dicts()}
    rewarded = {row["attempt_id"]: row for row in layer.rewarded(made).to_dicts()}
    differing = []
    for one in told:
        finalization = None if shape == "summary" else one.get("finalization")
        wanted = expected_recorded(one["verification"], finalization, shape, outcome=one["attempt"]["outcome"])
        row = verdicts[f"worldseq:{one['attempt']['attemptId']}"]
        reward = rewarded[row["attempt_id"]]["reward"]
        agree = all(same(row[name], getattr(wanted, name)) for name in RECORDED) and row["class"] == wanted.class_
        failed = row["failed_predicates"] == sorted(set(wanted.failed_predicates))
        if not (agree and failed and same(reward, wanted.reward.reward, TOLERANCE)):
            differing.append((row, reward, wanted))
    assert differing[:3] == []


def recorded_as(shape: str, document: dict[str, Any]) -> dict[str, Any]:
    """The document of another shape that records what this one does, and carries no evidence."""
    identity, verification = {"attempt": document["attempt"]}, document["verification"]
    finalization = {"finalization": document.get("finalization")}
    if shape == "finalizer":
        return {**identity, "verification": verification, **finalization}
    if shape == "harbor":
        return {"eligible": None, "reward": None, **verification, **identity, **finalization}
    return {"cases": [{**identity, "verification": verification}]}
