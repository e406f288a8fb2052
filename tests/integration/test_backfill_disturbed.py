"""Backfills that are killed and gone on with, and several at the same time beside a nightly run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.settings import Settings
from tests.integration.backfills import RESULTS, SCALE, at, bump, copied, done, recomputed, run_ids, store
from tests.integration.hostile import full, text
from tests.integration.warehouses import differing, everything, ran, rows, write

ROOT = str(Path(__file__).parents[2])
MOMENTS = 10
DAYS = ("2026-11-26", "2026-11-27", "2026-11-28")
ONE_DAY_AT_ONCE = "import pipelines.run; pipelines.run.ROWS_AT_ONCE = 1"
BEGIN = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.integration.backfills import at, done
from tests.integration.warehouses import ran
{prepare}
where = replace(at(Path(sys.argv[1])), artifacts=sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
{work}
"""


def started(where: Settings, work: str, prepare: str = "") -> subprocess.Popen[bytes]:
    """A process that has loaded everything, and waits to be told to begin."""
    folder = str(Path(where.tables).parent)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", BEGIN.format(work=work, prepare=prepare), folder, where.artifacts],
        cwd=ROOT,
        env={"PYTHONPATH": ROOT, "HOME": folder, "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


def begin(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    process.stdin.write(b"\n")
    process.stdin.flush()


def differing_results(one: Settings, other: Settings) -> list[str]:
    return [name for name in RESULTS if not rows(one, name).equals(rows(other, name))]


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "scored").mkdir()
    scored = store(tmp_path / "scored", days=4, attempts=20)
    undisturbed = copied(scored, tmp_path / "undisturbed")
    where = copied(scored, tmp_path / "killed")
    work = "done(where, 'v2')"
    process = started(undisturbed, work, ONE_DAY_AT_ONCE)
    begin(process)
    began = time.monotonic()
    assert process.communicate() == (b"", b"")
    length = time.monotonic() - began

    rng = random.Random(11)
    complete = run_ids(where)
    for moment in range(MOMENTS):
        process = started(where, work, ONE_DAY_AT_ONCE)
        begin(process)
        # What is done stays done: each goes on for about a tenth, and now and then is killed at once.
        time.sleep(length * rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = run_ids(where)
        assert recomputed(complete, now) == set(), json.dumps({"moment": moment})
        complete = now
    summary = done(where, "v2")
    assert recomputed(complete, run_ids(where)) == set()
    assert differing_results(undisturbed, where) == []
    assert sum(summary.computed.values()) + len(complete) == 2 * 4 * len(RESULTS)
    assert done(where, "v1", "v2").computed == {}


@pytest.mark.slow
def test_two_backfills_and_a_nightly_run_at_the_same_time(tmp_path: Path) -> None:
    template = tmp_path / "template"
    write(template, {f"worldseq/{day}/{n}.json": text(full(f"{day}-{n}")) for day in DAYS for n in range(10)})
    where = at(template)
    bump(where, "v2", "v1", ("player_calls = 1024", "player_calls = 1"))
    bump(where, "v3", "v1", SCALE)
    ran(where)
    late = {f"worldseq/{DAYS[1]}/late.json": text(full("late", usage=None)), f"worldseq/{DAYS[2]}/3.json": b"{"}

    one, other = (
        replace(copied(where, tmp_path / name), artifacts=where.artifacts) for name in ("sequential", "concurrent")
    )
    write(template, late)
    ran(one)
    done(one, "v2", "v3")

    work = ("done(where, 'v2')", "done(where, 'v3')", "ran(where)")
    running = [started(other, each) for each in work]
    for process in running:
        begin(process)
    told = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], told
    before = run_ids(other)
    # What a backfill read before the late artifacts were decoded is what is stale now, and nothing else.
    done(other, "v2", "v3")
    touched = {(day, rules) for day in DAYS[1:] for rules in ("v2", "v3")}
    assert {values for _, values in recomputed(before, run_ids(other))} <= touched
    assert differing(everything(one), everything(other)) == []
    assert done(other, "v1", "v2", "v3").computed == {}
    assert len(table_store(other).provenance(TABLES["verifications"])) == 9
