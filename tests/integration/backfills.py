"""A small attempts layer under some rule sets, and what its commits say that was computed."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from assets.tables import LAYERS, TABLES
from pipelines.build import table_store
from pipelines.run import backfill
from pipelines.settings import Settings
from pipelines.storage.provenance import Values
from pipelines.summary import RunSummary
from tests.benchmarks.rescoring import layer

V1 = Path(__file__).parents[2] / "assets" / "rulesets" / "v1.toml"
CALLS, SCALE = ("player_calls = 1024", "player_calls = 700"), ("scale = 1000000.0", "scale = 400000.0")
HORIZON = 24
RESULTS = [str(contract.to_schema().name) for contract in LAYERS["results"]]


def bump(where: Settings, id_: str, predecessor: str, *changes: tuple[str, str], status: str = "candidate") -> None:
    """Write the file of a rule set: v1 with some text replaced, each once."""
    text = V1.read_text(encoding="utf-8").replace('id = "v1"', f'id = "{id_}"\npredecessor = "{predecessor}"')
    for old, new in (('"active"', f'"{status}"'), *changes):
        if old not in text:
            raise ValueError(old)
        text = text.replace(old, new, 1)
    folder = where.rulesets or Path()
    folder.mkdir(exist_ok=True)
    (folder / f"{id_}.toml").write_text(text, encoding="utf-8")


def store(folder: Path, days: int, attempts: int) -> Settings:
    """So many days of attempts, scored under v1; v2 is a candidate, stricter, and of another transform."""
    where = layer(folder, days, attempts, HORIZON)
    bump(where, "v2", "v1", CALLS, SCALE)
    done(where, "v1")
    return where


def copied(where: Settings, folder: Path) -> Settings:
    """A store of its own with the same content."""
    shutil.copytree(Path(where.tables).parent, folder, dirs_exist_ok=True)
    return at(folder)


def at(folder: Path) -> Settings:
    """The settings of a store in this folder."""
    return Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster", folder / "rulesets")


def done(where: Settings, *rules: str, **limits: Any) -> RunSummary:
    """A backfill; Dagster's history is kept in memory, which is faster."""
    with dg.DagsterInstance.ephemeral() as instance:
        return backfill(where, rules, instance=instance, **limits)


def versions(where: Settings) -> dict[str, int]:
    """The version of every table that there is."""
    tables = table_store(where)
    return {name: tables.version(contract) for name, contract in TABLES.items() if tables.exists(contract)}


def run_ids(where: Settings) -> dict[tuple[str, Values], str]:
    """Which run wrote each partition of the results layer."""
    tables = table_store(where)
    return {
        (name, values): noted.run_id for name in RESULTS for values, noted in tables.provenance(TABLES[name]).items()
    }


def recomputed(before: Mapping[tuple[str, Values], str], after: Mapping[tuple[str, Values], str]) -> set[Any]:
    """The partitions that were there before and that another run wrote since."""
    return {where for where, run in before.items() if after.get(where) != run}
