"""Staged trials and the packs beside them: which version of a pack gives a trial its weights."""

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from pipelines.build import build_definitions
from pipelines.jobs import day_range
from pipelines.settings import Settings
from tests.integration.warehouses import ran, rows, settings, write

DAY = "2026-11-20"
PACK = "agentforge-packs/incident.json"
NOON = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)


def pack(first: float) -> bytes:
    stages = [{"id": "one", "weight": first, "hidden": True}, {"id": "two", "weight": 1 - first, "hidden": True}]
    return json.dumps(
        {"format": "agentforge-pack/1", "packKey": "incident", "schemaVersion": 1, "stages": stages}
    ).encode()


def trial(name: str, **changes: Any) -> dict[str, bytes]:
    body = {
        "format": "agentforge-trial/1",
        "trialId": name,
        "jobId": "job",
        "attempt": 1,
        "configuration": {"attemptCount": 1, "rewardRecipe": "staged", "agentKind": "solo", "packKey": "incident"},
        "status": "completed",
        "metrics": {"stage_one": 1.0, "stage_two": 0.0},
        "reward": None,
        **changes,
    }
    return {f"agentforge/{DAY}/{name}.json": json.dumps(body).encode()}


def put(folder: Path, files: dict[str, bytes], hours: float) -> None:
    """Write files that were last modified so many hours after noon."""
    write(folder, files)
    seconds = (NOON + dt.timedelta(hours=hours)).timestamp()
    for key in files:
        os.utime(folder / "artifacts" / key, (seconds, seconds))


def rewards(place: Settings) -> dict[str, tuple[float | None, str | None]]:
    table = rows(place, "rewards").select(pl.col("attempt_id").str.strip_prefix("agentforge:"), "reward", "reason")
    return {name: (reward, reason) for name, reward, reason in table.iter_rows()}


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    return settings(tmp_path)


def test_editing_a_pack_changes_no_trial_that_landed_before(tmp_path: Path, place: Settings) -> None:
    put(tmp_path, {PACK: pack(0.25)}, hours=0)
    put(tmp_path, trial("before"), hours=1)
    ran(place)
    put(tmp_path, {PACK: pack(0.75)}, hours=2)
    put(tmp_path, trial("after"), hours=3)
    ran(place)
    assert rewards(place) == {"before": (0.25, None), "after": (0.75, None)}


def test_a_pack_that_comes_late_is_found_when_its_trials_are_read_again(tmp_path: Path, place: Settings) -> None:
    put(tmp_path, trial("early"), hours=0)
    ran(place)
    assert rewards(place) == {"early": (None, "pack_missing")}
    put(tmp_path, {PACK: pack(0.25)}, hours=200)
    ran(place)
    assert rewards(place) == {"early": (0.25, None)}


def test_a_pack_of_another_day_is_landed_with_the_days_asked_for(tmp_path: Path, place: Settings) -> None:
    put(tmp_path, {PACK: pack(0.25)}, hours=-300)
    put(tmp_path, trial("only"), hours=0)
    day = dt.date.fromisoformat(DAY)
    summary = ran(place, from_day=day, to_day=day, sources=["agentforge"])
    assert (summary.days, summary.listed, summary.fetched) == ([day], 2, 2)
    assert rewards(place) == {"only": (0.25, None)}


def test_trials_of_a_broken_pack_are_inconclusive_until_it_is_repaired(tmp_path: Path, place: Settings) -> None:
    put(tmp_path, {PACK: pack(0.25).replace(b"0.25", b"0.3"), **trial("only")}, hours=0)
    ran(place)
    assert rewards(place) == {"only": (None, "pack_invalid")}
    verdict = rows(place, "verifications").row(0, named=True)
    assert (verdict["class"], verdict["reason"]) == ("inconclusive", "pack_invalid")
    assert rows(place, "quarantine").select("source", "stage").rows() == [("agentforge-packs", "contract")]
    put(tmp_path, {PACK: pack(0.25)}, hours=1)
    ran(place)
    assert rewards(place) == {"only": (0.25, None)}
    assert rows(place, "quarantine").is_empty()


@pytest.mark.parametrize("source", ["harbor", "worldseq", "agentforge"])
def test_one_source_of_a_store_that_holds_packs(source: str, tmp_path: Path, place: Settings) -> None:
    put(tmp_path, {PACK: pack(0.25), **trial("only")}, hours=0)
    ran(place)
    assert ran(place, sources=[source]).fetched == 0


def test_the_nightly_job_lands_packs_of_any_day(tmp_path: Path, place: Settings) -> None:
    put(tmp_path, {PACK: pack(0.25)}, hours=-5000)
    put(tmp_path, trial("only"), hours=0)
    definitions = build_definitions(place)
    with dg.DagsterInstance.ephemeral() as instance:
        tags = day_range(dt.date(2026, 11, 15), dt.date(2026, 11, 22))
        assert definitions.resolve_job_def("landing").execute_in_process(instance=instance, tags=tags).success
    assert rows(place, "stage_values").sort("position")["weight"].to_list() == [0.25, 0.75]
