"""Quarantined documents decoded again from their stored bytes: what leaves, what follows, and what is left alone."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from assets.attempts import decoding
from assets.sources import worldseq
from assets.sources.registry import SOURCES
from assets.tables import TABLES, layer
from pipelines.campaigns import check, verdicts
from pipelines.replay import Replayed
from pipelines.replay import replay as replay_in
from pipelines.run import Session
from pipelines.settings import Settings
from tests.integration.campaign_store import EARLY, LATE, attempt, deep, files, path
from tests.integration.hostile import full, text
from tests.integration.warehouses import ran, rows, settings, versions, write, written

DEEP = path("cmp-early", "control", "c1")
LIMITS: dict[str, Any] = {"max_depth": 10, "max_object_bytes": 20_000}


def replay(where: Settings, *conditions: pl.Expr) -> Replayed:
    with dg.DagsterInstance.ephemeral() as instance:
        return replay_in(where, conditions, instance=instance)


def quarantine(where: Settings) -> dict[str, str]:
    return {uri.rpartition("/")[2]: reason for uri, reason in rows(where, "quarantine").select("uri", "reason").rows()}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A document that is too deep in the early campaign; a torn and a large one on the late day."""
    folder = tmp_path_factory.mktemp("replay")
    broken = {
        DEEP: deep(attempt("cmp-early", "control", "c1"), 20),
        f"worldseq/{LATE}/torn.json": text(full("torn"))[:-5],
        f"worldseq/{LATE}/large.json": text(full("large")) + b" " * 30_000,
    }
    write(folder, {**files(), **broken})
    where = settings(folder, **LIMITS)
    ran(where)
    for name in ("artifacts", "tables"):
        (folder / name).rename(folder / f"{name}-kept")
    return where


@pytest.fixture
def where(template: Settings) -> Iterator[Settings]:
    """The template at its place, to be changed; no artifact store beside it."""
    tables = Path(template.tables)
    shutil.copytree(tables.with_name("tables-kept"), tables)
    yield template
    for folder in (tables, Path(template.artifacts)):
        shutil.rmtree(folder, ignore_errors=True)


def with_artifacts(where: Settings) -> None:
    artifacts = Path(where.artifacts)
    shutil.copytree(artifacts.with_name("artifacts-kept"), artifacts, copy_function=os.link)


def test_a_raised_limit_lets_a_document_in_and_its_campaign_follows(where: Settings) -> None:
    assert quarantine(where) == {
        "cmp-early-control-c1.json": "too_deep",
        "torn.json": "not_json",
        "large.json": "too_large",
    }
    before, begun = verdicts(where), versions(where)
    assert [row["numeric_pairs"] for row in before] == [1, 2]

    found = replay(replace(where, max_depth=64), pl.col("reason") == "too_deep")

    assert [day.isoformat() for day in found.days] == [EARLY]
    assert [(row["reason"], row["uri"].rpartition("/")[2]) for row in found.left] == [
        ("too_deep", "cmp-early-control-c1.json")
    ]
    assert (found.changed, found.stayed, found.without_bytes) == ([], 0, [])
    assert quarantine(where) == {"torn.json": "not_json", "large.json": "too_large"}
    for table in ("attempts", "verifications"):
        assert "worldseq:cmp-early-control-c1" in rows(where, table)["attempt_id"].to_list()
    assert [row["numeric_pairs"] for row in verdicts(where)] == [2, 2]
    assert [one.differing for one in check(where)] == [[], []]
    # No other day, no other campaign, and no artifact: there is no store.
    (campaign,) = [row["campaign_key"] for row in before if row["campaign_id"] == "cmp-early"]
    per_layer = {"attempts": {(EARLY,): 1}, "results": {(EARLY, "v1"): 1}, "campaigns": {(campaign, "v1"): 1}}
    once = {name: per_layer[layer(name)] for name in TABLES if layer(name) in per_layer}
    assert written(where, begun) == {
        **once,
        **{name: {(EARLY,): 1} for name in ("quarantine", "campaign_registrations")},
    }
    assert not Path(where.artifacts).exists()


def test_replayed_once_more_does_nothing_and_landed_anew_is_the_same(where: Settings) -> None:
    raised = replace(where, max_depth=64)
    replay(raised)
    begun = versions(where)
    assert (replay(raised, pl.col("reason") == "too_deep").days, written(where, begun)) == ([], {})
    after = {name: rows(where, name) for name in ("attempts", "quarantine", "verifications", "campaign_comparisons")}
    with_artifacts(where)
    summary = ran(raised)
    assert (summary.fetched, summary.unchanged) == (0, summary.listed)
    assert {name: rows(where, name).equals(frame) for name, frame in after.items()} == dict.fromkeys(after, True)


def test_nothing_leaves_where_nothing_changed(where: Settings) -> None:
    begun = versions(where)
    found = replay(where)
    assert [day.isoformat() for day in found.days] == [EARLY, LATE]
    assert (found.left, found.changed, found.stayed) == ([], [], 2)
    assert [row["reason"] for row in found.without_bytes] == ["too_large"]
    done = written(where, begun)
    assert not {"verifications", "campaign_comparisons", "raw_artifacts"} & done.keys()
    assert set(done["attempts"]) == {(EARLY,), (LATE,)}  # and none of the days between


@pytest.mark.parametrize(
    ("condition", "days", "without"),
    [
        (pl.col("reason") == "not_json", [LATE], 0),
        (pl.col("stage") == "fetch", [], 1),
        (pl.col("source") == "harbor", [], 0),
        (pl.col("landed_on").cast(pl.String) == EARLY, [EARLY], 0),
    ],
)
def test_only_what_is_asked_for(where: Settings, condition: pl.Expr, days: list[str], without: int) -> None:
    begun = versions(where)
    found = replay(where, condition)
    assert ([day.isoformat() for day in found.days], len(found.without_bytes)) == (days, without)
    assert set(written(where, begun).get("quarantine", ())) == {(day,) for day in days}


def test_a_limit_that_is_lowered_more_sends_other_documents_there(where: Settings) -> None:
    found = replay(replace(where, max_depth=3), pl.col("reason") == "too_deep")
    assert (found.left, [row["detail"] for row in found.changed]) == ([], ["nested deeper than 3"])
    assert rows(where, "attempts").filter(pl.col("campaign_id") == "cmp-early").is_empty()
    assert rows(where, "verifications").filter(pl.col("landed_on").cast(pl.String) == EARLY).is_empty()


def test_a_decoder_that_was_mended(where: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an older decoder refused: here one whose depth was counted wrongly, whatever the limits say."""
    mended = SOURCES["worldseq"]._replace(
        decode=lambda documents, limits, first: worldseq.decode(documents, limits._replace(max_depth=64), first)
    )
    monkeypatch.setattr(decoding, "SOURCES", {**SOURCES, "worldseq": mended})
    found = replay(where)
    assert [row["reason"] for row in found.left] == ["too_deep"]
    assert "worldseq:cmp-early-control-c1" in rows(where, "verifications")["attempt_id"].to_list()
    assert [row["numeric_pairs"] for row in verdicts(where)] == [2, 2]


def test_a_corrected_object_leaves_by_a_run(where: Settings) -> None:
    with_artifacts(where)
    torn = Path(where.artifacts) / f"worldseq/{LATE}/torn.json"
    torn.unlink()
    torn.write_bytes(text(full("torn")))
    begun = versions(where)
    assert ran(where).fetched == 1
    assert "torn.json" not in quarantine(where)
    assert "worldseq:torn" in rows(where, "verifications")["attempt_id"].to_list()
    assert set(written(where, begun)["attempts"]) == {(LATE,)}


def test_without_any_table(tmp_path: Path) -> None:
    assert replay(settings(tmp_path)).days == []


@pytest.mark.parametrize("step", ["decode", "score", "compare_stale"])
def test_an_interrupted_replay_is_gone_on_with(where: Settings, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    raised = replace(where, max_depth=64)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Session, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            replay(raised)
    replay(raised)
    assert quarantine(where) == {"torn.json": "not_json", "large.json": "too_large"}
    assert "worldseq:cmp-early-control-c1" in rows(where, "verifications")["attempt_id"].to_list()
    assert [row["numeric_pairs"] for row in verdicts(where)] == [2, 2]
    assert [one.differing for one in check(where)] == [[], []]
