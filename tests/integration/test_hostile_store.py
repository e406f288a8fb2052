"""The hostile store, end to end: each document is scored or quarantined exactly as specified, and the run succeeds."""

import polars as pl
import pytest

from pipelines.settings import Settings
from pipelines.summary import RunSummary
from tests.integration.hostile import HOSTILE, OVERSIZED
from tests.integration.warehouses import ran, rows, settings, write


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, RunSummary]:
    folder = tmp_path_factory.mktemp("hostile")
    write(folder)
    where = settings(folder)
    return where, ran(where)


@pytest.fixture(scope="module")
def quarantine(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return rows(warehouse[0], "quarantine").with_columns(name=pl.col("uri").str.extract(r"([^/]+)\.json$"))


@pytest.fixture(scope="module")
def attempts(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return rows(warehouse[0], "attempts").with_columns(name=pl.col("uri").str.extract(r"([^/]+)\.json$"))


@pytest.mark.parametrize("name", HOSTILE)
def test_each_document_ends_where_it_must(name: str, quarantine: pl.DataFrame, attempts: pl.DataFrame) -> None:
    expected = HOSTILE[name].expected
    refused = quarantine.filter(pl.col("name") == name).select("stage", "reason", "path").rows()
    if expected is None:
        assert refused == []
        assert attempts.filter(pl.col("name") == name).height == (name != "copy-1")
    else:
        assert [row[:2] for row in refused] == [expected[:2]]
        assert expected.path in (None, refused[0][2])
        assert attempts.filter(pl.col("name") == name).is_empty()


def test_not_json_is_told_by_its_byte_offset(quarantine: pl.DataFrame) -> None:
    paths = quarantine.filter(pl.col("reason") == "not_json")["path"]
    assert paths.str.contains("^byte [0-9]+$").all()


def test_what_is_too_large_or_undated_is_told_and_never_fetched(quarantine: pl.DataFrame) -> None:
    fetch = quarantine.filter(pl.col("stage") == "fetch").select("name", "reason").sort("name").rows()
    assert fetch == [(OVERSIZED, "too_large"), ("stray", "no_partition")]


def test_every_object_is_accounted_for(warehouse: tuple[Settings, RunSummary], quarantine: pl.DataFrame) -> None:
    _, summary = warehouse
    attempts = summary.attempts + summary.identical_copies
    assert attempts + quarantine.height == summary.listed == len(HOSTILE) + 2


def test_every_attempt_has_a_class_and_a_reward_row(
    warehouse: tuple[Settings, RunSummary], attempts: pl.DataFrame
) -> None:
    for name in ("verifications", "rewards"):
        assert rows(warehouse[0], name)["attempt_id"].sort().to_list() == attempts["attempt_id"].sort().to_list()


def result(where: Settings, table: str, attempt_id: str) -> dict[str, object]:
    return rows(where, table).row(by_predicate=pl.col("attempt_id") == f"worldseq:{attempt_id}", named=True)


def test_the_undamaged_are_scored(warehouse: tuple[Settings, RunSummary]) -> None:
    where, _ = warehouse
    verdict = result(where, "verifications", "h-bom")
    assert (verdict["class"], verdict["primary_value"]) == ("eligible", 20.0)
    assert result(where, "rewards", "h-bom")["reward"] == pytest.approx(1 + 0.5 * 20 / 1_000_020, abs=1e-15)


@pytest.mark.parametrize(
    ("attempt_id", "outcome", "reason"), [("h-unknown-kind", "inconclusive", "unknown_kind"), ("h-bom", "pass", None)]
)
def test_a_contract_that_contradicts_itself_is_inconclusive(
    warehouse: tuple[Settings, RunSummary], attempt_id: str, outcome: str, reason: str | None
) -> None:
    found = rows(warehouse[0], "predicate_results").filter(
        pl.col("attempt_id") == f"worldseq:{attempt_id}", pl.col("kind").is_in(["vibes", "cash_floor"])
    )
    assert found.select("outcome", "reason").rows() == [(outcome, reason)]


@pytest.mark.parametrize(
    ("attempt_id", "question", "status"),
    [
        ("h-scale-zero", "q-cash", "invalid_contract"),
        ("h-groups", "q-cause", "invalid_contract"),
        ("h-prediction", "q-cash", "invalid"),
        ("h-prediction-overflow", "q-cash", "invalid"),
        ("h-conclusion", "q-cash", "graded"),
        ("h-bom", "q-cause", "graded"),
    ],
)
def test_answers(warehouse: tuple[Settings, RunSummary], attempt_id: str, question: str, status: str) -> None:
    found = rows(warehouse[0], "assessment_scores").filter(
        pl.col("attempt_id") == f"worldseq:{attempt_id}", pl.col("question_id") == question
    )
    assert found["answer_status"].to_list() == [status]
    assert found["score"].is_null().to_list() == [status != "graded"]


def test_a_naive_time_is_null_and_keeps_its_text(warehouse: tuple[Settings, RunSummary]) -> None:
    found = result(warehouse[0], "attempts", "h-naive")
    assert (found["finished_at"], found["finished_at_text"]) == (None, "2026-11-29T01:55:00")


def test_identical_copies_are_counted_once(warehouse: tuple[Settings, RunSummary]) -> None:
    assert result(warehouse[0], "attempts", "h-copy")["identical_copies"] == 1
