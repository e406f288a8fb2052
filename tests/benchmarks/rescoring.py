"""Scoring again under a new rule set: attempts per second, memory, and one process against many.

The attempts layer is written as a run would leave it; what is measured is `backfill`, Dagster included.
"""

import datetime as dt
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from assets.attempts.assets import LAYER
from assets.attempts.contract import (
    Agreements,
    Answers,
    Attempts,
    Questions,
    RecordedValues,
    TaskPredicates,
    TrajectoryDays,
)
from assets.contract import Contract, empty, schema, table_name
from assets.sources.documents import Document, Limits
from assets.sources.worldseq import decode
from pipelines.run import backfill
from pipelines.settings import Settings
from pipelines.storage.provenance import INPUT_FINGERPRINT
from pipelines.storage.tables import Tables
from tests.benchmarks.ratios import Ratio, best
from tests.benchmarks.store import attempt

FIRST = dt.date(2026, 9, 1)
NOON = dt.datetime(2026, 9, 1, 12, tzinfo=dt.UTC)
LARGE = (50, 20_000, 10)  # landing days, attempts a day, trajectory days of each
MONTH = (30, 2_000, 10)
READ = (Attempts, TrajectoryDays, TaskPredicates, Agreements, Questions, Answers, RecordedValues)
"""What has rows and is read to score."""
REDUCED = ("min", "max", "sum")
V2 = {'id = "v1"': 'id = "v2"\npredecessor = "v1"', "player_calls = 1024": "player_calls = 900"}


def layer(folder: Path, days: int, attempts: int, horizon: int) -> Settings:
    """The attempts layer of so many landing days with so many attempts each, and a rule set v2."""
    settings = Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster", folder / "rulesets")
    (folder / "artifacts").mkdir()
    (folder / "rulesets").mkdir()
    text = (Path(__file__).parents[2] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")
    for old, new in V2.items():
        text = text.replace(old, new)
    (folder / "rulesets" / "v2.toml").write_text(text.replace('"active"', '"candidate"'), encoding="utf-8")
    rng = random.Random(1)
    documents = [
        Document(f"file:///{n}", str(n), "worldseq", FIRST, NOON, f"{n:064x}", json.dumps(one).encode())
        for n, one in enumerate(attempt(rng, number, horizon) for number in range(attempts))
    ]
    decoded = decode(documents, Limits(), 0)
    tables = Tables(settings.tables)
    tables.ensure(LAYER)
    for number in range(days):
        day = FIRST + dt.timedelta(number)
        for contract in LAYER:
            frame = decoded.frames.get(table_name(contract), empty(contract))
            there = frame.select(pl.exclude("document"))
            if "attempt_id" in there.columns:
                there = there.with_columns(pl.concat_str("attempt_id", pl.lit(f"-{number}")))
            there = there.with_columns(landed_on=pl.lit(day))
            noted = {"code_version": "1", INPUT_FINGERPRINT: json.dumps([str(number)])}
            tables.replace(contract, there.select(empty(contract).columns), [{"landed_on": day}], noted)
    return settings


def scan(tables: Tables, contracts: Sequence[type[Contract]]) -> None:
    """One streaming pass over every figure of these tables, a price of a day among them: grouped by attempt."""
    for contract in contracts:
        read = [name for name, dtype in schema(contract).items() if dtype.is_numeric()]
        figures = [getattr(pl.col(name), how)().alias(f"{name}_{how}") for name in read for how in REDUCED]
        rows = tables.scan(contract)
        if "prices" in schema(contract):
            cents = pl.col("prices").list.eval(pl.element().struct.field("cents"))
            rows = rows.with_columns(getattr(cents.list, how)().alias(f"cents_{how}") for how in REDUCED)
            figures += [getattr(pl.col(f"cents_{how}"), how)() for how in REDUCED]
        by_attempt = rows.group_by("landed_on", "attempt_id").agg(figures)
        # Every figure is needed.
        by_attempt.select(pl.exclude("landed_on", "attempt_id").max()).collect(engine="streaming")


class Measured(NamedTuple):
    """One process that scored: seconds of work and of the whole process, its peak bytes, and attempts."""

    seconds: float
    process_seconds: float
    peak: int
    attempts: int


def measured(folder: Path, day: dt.date | None = None) -> Measured:
    """A process of its own that scores one day, or every day, under v2."""
    started = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.rescoring", str(folder)]
    told = subprocess.run([*command, *([day.isoformat()] if day else [])], check=True, capture_output=True, text=True)
    seconds, peak, attempts = json.loads(told.stdout)
    return Measured(seconds, time.perf_counter() - started, peak, attempts)


def month() -> Ratio:
    """(i) A month in one process against a process per day."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
        for folder in (one, many):
            layer(Path(folder), *MONTH)
        together = measured(Path(one)).process_seconds
        each = [measured(Path(many), FIRST + dt.timedelta(number)).process_seconds for number in range(MONTH[0])]
    return Ratio(
        f"(i) {MONTH[0]} days x {MONTH[1]:,} attempts scored again in one process, seconds ÷ a process per day",
        together / sum(each),
        "< 1",
        f"{together:.1f} s against {sum(each):.1f} s",
    )


def large() -> list[Ratio]:
    """(j) A million attempts: seconds against one scan of the same figures, and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        settings = layer(Path(folder), *LARGE)
        tables = Tables(settings.tables)
        of_all = best(lambda: scan(tables, READ))
        of_days = best(lambda: scan(tables, [TrajectoryDays]))
        found = measured(Path(folder))
    what = f"(j) {found.attempts:,} attempts of {LARGE[2]} days scored again under a new rule set"
    speed = f"{found.attempts / found.seconds:,.0f} attempts/s; {found.seconds:.1f} s"
    return [
        Ratio(
            f"{what}, seconds ÷ one scan of the figures that are read, grouped",
            found.seconds / of_all,
            "≤ 20, aim 8",
            f"{speed} against {of_all:.2f} s",
        ),
        Ratio(
            f"{what}, seconds ÷ one scan of their days alone, grouped",
            found.seconds / of_days,
            "≤ 20, aim 8",
            f"{speed} against {of_days:.2f} s",
        ),
        Ratio(f"{what}, peak memory, GB", found.peak / 1e9, "≤ 2", f"{found.peak / 2**20:,.0f} MiB"),
    ]


def main() -> list[Ratio]:
    """Every ratio of this module."""
    return [month(), *large()]


def _measured(folder: Path, day: dt.date | None) -> None:
    settings = Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster", folder / "rulesets")
    started = time.perf_counter()
    summary = backfill(settings, ["v2"], day, day)
    seconds = time.perf_counter() - started
    # Not `ru_maxrss`: it begins with what the parent held when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    sys.stdout.write(json.dumps([seconds, int(peak) * 1024, summary.attempts]))


if __name__ == "__main__":
    place, *days = sys.argv[1:]
    _measured(Path(place), dt.date.fromisoformat(days[0]) if days else None)
