"""Running the whole pipeline in tests, and reading back what a reader would see."""

import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from assets.contract import Contract, partition_by, schema
from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.run import run
from pipelines.settings import Settings
from pipelines.storage.provenance import PARTITION_KEYS
from pipelines.summary import RunSummary
from tests.integration.hostile import objects

KEPT = "-kept"
VOLATILE = ("uri", "etag", "last_modified", "ingested_at", "batch", "recorded_in")
"""Columns that differ between two stores of the same content, or two runs."""


def settings(folder: Path, **changes: object) -> Settings:
    """Settings of a warehouse below `folder`, with artifacts and tables in local folders."""
    given = {
        "artifacts": str(folder / "artifacts"),
        "tables": str(folder / "tables"),
        "dagster_home": folder / "dagster",
    }
    return Settings(**{**given, **changes})  # type: ignore[arg-type]  # the fields are given by name


def write(folder: Path, files: dict[str, bytes] | None = None) -> None:
    """Write a local artifact store; by default the hostile one."""
    for key, content in (objects() if files is None else files).items():
        path = folder / "artifacts" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # another file: the one that is there may be that of a template
        path.write_bytes(content)


def ran(where: Settings, **limits: Any) -> RunSummary:
    """Run everything once, or what `limits` leave; Dagster's history is kept in memory, which is faster."""
    with dg.DagsterInstance.ephemeral() as instance:
        return run(where, instance=instance, **limits)


def rows(where: Settings, name: str, *, drop: tuple[str, ...] = ()) -> pl.DataFrame:
    """A whole table in a stable order, without the columns named."""
    contract: type[Contract] = TABLES[name]
    kept = [column for column in schema(contract) if column not in drop]
    return stable(table_store(where).scan(contract).select(kept).collect())


def stable(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in an order that depends on nothing but their content."""
    return frame.with_columns(_order=frame.hash_rows(seed=7)).sort("_order").drop("_order")


def everything(where: Settings) -> dict[str, pl.DataFrame]:
    """Every table without its volatile columns."""
    return {name: rows(where, name, drop=VOLATILE) for name in TABLES}


def differing(one: dict[str, pl.DataFrame], other: dict[str, pl.DataFrame]) -> list[str]:
    """Names of the tables that are not identical."""
    return [name for name in TABLES if not one[name].equals(other[name])]


def versions(where: Settings) -> dict[str, int]:
    """The newest version of each table; none where there is no table yet."""
    tables = table_store(where)
    return {name: tables.version(contract) for name, contract in TABLES.items() if tables.exists(contract)}


def written(where: Settings, since: Mapping[str, int] | None = None) -> dict[str, Counter[tuple[str, ...]]]:
    """How often each partition of each table was written since those versions, as the commits say; only what was.

    Of `raw_artifacts` the days, without the batches.
    """
    found = {}
    for name, contract in TABLES.items():
        table = table_store(where)
        news = table.version(contract) - (since or {}).get(name, 0)
        kept = [column for column in partition_by(contract) if column != "batch"]
        commits = itertools.islice(table.notes(contract), news)
        keys = (key for commit in commits for key in json.loads(commit.get(PARTITION_KEYS, "[]")))
        if counts := Counter(tuple(str(key[column]) for column in kept) for key in keys):
            found[name] = counts
    return found


def put_aside(where: Settings) -> None:
    """Keep a folder's artifacts and tables beside their place, for every test that is to find them there."""
    for place in (Path(where.artifacts), Path(where.tables)):
        place.rename(place.with_name(f"{place.name}{KEPT}"))


def put_artifacts_back(where: Settings) -> None:
    """The artifacts that were put aside, at their place: the very same files."""
    place = Path(where.artifacts)
    shutil.copytree(place.with_name(f"{place.name}{KEPT}"), place, copy_function=os.link)


@contextmanager
def in_place(where: Settings, *, artifacts: bool = True) -> Iterator[Settings]:
    """What was put aside, at its place, the artifacts only where they are wanted; removed again afterwards."""
    tables = Path(where.tables)
    shutil.copytree(tables.with_name(f"{tables.name}{KEPT}"), tables)
    if artifacts:
        put_artifacts_back(where)
    yield where
    for place in (tables, Path(where.artifacts)):
        shutil.rmtree(place, ignore_errors=True)
