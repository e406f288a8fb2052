"""Landing and decoding: speed against a bare parse, memory against the number of documents, the no-change pass."""

import datetime as dt
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fsspec
import orjson

from assets.attempts.contract import PARTS
from assets.attempts.decoding import decode
from assets.landing.contract import Quarantine
from assets.landing.land import Intake, difference, land
from assets.landing.layout import pattern
from assets.tables import TABLES
from pipelines.partitions import FIRST_DAY
from pipelines.storage.artifact_store import ArtifactStore
from pipelines.storage.scratch import scratch
from pipelines.storage.spool import Spool
from pipelines.storage.tables import Tables
from tests.benchmarks import store
from tests.benchmarks.ratios import Ratio, best

COUNT = 20_000
DAYS = [dt.date(2026, 11, day) for day in range(1, 5)]


def everything(artifacts: Path, tables: Tables) -> None:
    """Landing and the attempts layer of the whole store, as the assets do it."""
    intake = Intake([pattern("worldseq")], FIRST_DAY)
    land(ArtifactStore(str(artifacts)), tables, intake.of(DAYS), {})
    with scratch() as folder:
        decoded = decode(tables, DAYS, intake.limits, Spool(folder))
        for contract in (*PARTS, Quarantine):
            name = contract.to_schema().name
            tables.replace(contract, decoded.tables[str(name)], [{"landed_on": day} for day in DAYS])


def speed(artifacts: Path, folder: Path) -> Ratio:
    """(a) Documents per second against bare `orjson.loads` over the same bytes in memory."""
    contents = [path.read_bytes() for path in sorted(artifacts.rglob("*.json"))]

    def parse() -> None:
        for content in contents:
            orjson.loads(content)

    parsing = best(parse)
    seconds = []
    for attempt in range(3):
        tables = Tables(str(folder / f"tables-{attempt}"))
        tables.ensure(TABLES.values())
        started = time.perf_counter()
        everything(artifacts, tables)
        seconds.append(time.perf_counter() - started)
    return Ratio(
        "(a) landing + attempts, 20,000 artifacts, documents/s ÷ bare orjson.loads",
        parsing / min(seconds),
        "≥ 0.5, aim 1.0",
        f"{COUNT / min(seconds):,.0f}/s against {COUNT / parsing:,.0f}/s",
    )


def peak_memory(count: int) -> int:
    """Peak resident bytes of a process that lands and decodes `count` artifacts."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.landing", str(count)], check=True, capture_output=True, text=True
    )
    return int(json.loads(told.stdout))


def memory() -> Ratio:
    """(c) Peak memory with four times the documents."""
    small, large = peak_memory(COUNT), peak_memory(4 * COUNT)
    return Ratio(
        "(c) peak memory of (a), 80,000 artifacts ÷ 20,000",
        large / small,
        "≤ 1.3",
        f"{large / 2**20:,.0f} MiB against {small / 2**20:,.0f} MiB",
    )


def no_change(artifacts: Path, tables: Tables) -> Ratio:
    """(d) The landing pass over an unchanged store against the bare listing through the same file system."""
    reader = ArtifactStore(str(artifacts))
    intake = Intake([pattern("worldseq")], FIRST_DAY)
    listing = best(lambda: fsspec.filesystem("file").find(str(artifacts), detail=True), 7)
    passing = best(lambda: difference(reader, tables, intake.of(DAYS)), 7)
    return Ratio(
        "(d) no-change landing pass ÷ bare fsspec listing, 20,000 objects",
        passing / listing,
        "≤ 1.5",
        f"{passing * 1e3:,.0f} ms against {listing * 1e3:,.0f} ms",
    )


def main() -> list[Ratio]:
    """Every ratio of this module."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store.write(folder / "artifacts", COUNT, len(DAYS))
        speed_ratio = speed(folder / "artifacts", folder)
        return [speed_ratio, memory(), no_change(folder / "artifacts", Tables(str(folder / "tables-0")))]


def _measured() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store.write(folder / "artifacts", int(sys.argv[1]), len(DAYS))
        tables = Tables(str(folder / "tables"))
        tables.ensure(TABLES.values())
        everything(folder / "artifacts", tables)
    # Not `ru_maxrss`: it begins with what the parent held when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    sys.stdout.write(json.dumps(int(peak) * 1024))


if __name__ == "__main__":
    _measured()
