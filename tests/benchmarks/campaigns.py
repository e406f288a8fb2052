"""The bootstrap of a comparison: seconds against one that resamples the same pairs plainly, and its peak memory."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from assets.campaigns.comparison import comparison
from assets.campaigns.pairs import Paired
from assets.rulesets.loader import load_all
from tests.assets.campaigns.effect_layer import Effects, pairs, registration
from tests.benchmarks.ratios import Ratio, best
from tests.reference.campaigns import Case

V1 = load_all()["v1"]
NOBODY = pl.DataFrame(schema={"attempt_id": pl.String})
BATCH = 100
"""Resamples that the peer draws at a time: it is fastest between 10 and 100, and by default needs gigabytes."""
TYPICAL, EXTREME = (10, 10, 10, 5, 2), (10, 10, 100, 1, 1)
LARGE = (10, 10, 100, 5, 2)
"""How many families, companies, tasks, scenarios and repeats; of the extreme, most is drawn."""


def drawn(*sizes: int) -> Effects:
    """Effects in a hierarchy of these sizes, by level."""
    rng = random.Random(1)
    families, companies, tasks, scenarios, repeats = (range(1, size + 1) for size in sizes)
    cases: list[Case] = [
        (f"family-{f}", f"company-{c}", f"task-{t}", f"scenario-{s}", r)
        for f in families
        for c in companies
        for t in tasks
        for s in scenarios
        for r in repeats
    ]
    return {case: rng.gauss(0.1, 1) for case in cases}


def speed(what: str, sizes: tuple[int, ...], target: str) -> Ratio:
    """(g) The whole comparison, from the pairs to the verdict."""
    effects = drawn(*sizes)
    of = registration(effects)
    paired = Paired(pairs(of, effects), NOBODY, [])
    values = paired.pairs["effect"].to_numpy()
    ours = best(lambda: comparison(of, paired, V1))
    theirs = best(
        lambda: stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=V1.campaign.resamples,
            batch=BATCH,
            method="percentile",
            rng=np.random.default_rng(1),
        )
    )
    return Ratio(
        f"(g) comparison of {what}, 10,000 resamples, seconds ÷ scipy.stats.bootstrap of the plain mean",
        ours / theirs,
        target,
        f"{ours * 1e3:,.0f} ms against {theirs * 1e3:,.0f} ms",
    )


def peak_memory() -> int:
    """Peak resident bytes of a process that compares 100,000 pairs."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.campaigns"], check=True, capture_output=True, text=True
    )
    return int(json.loads(told.stdout))


def main() -> list[Ratio]:
    """Every ratio of this module."""
    peak = peak_memory()
    return [
        speed("10,000 pairs", TYPICAL, "≤ 1"),
        speed("10,000 pairs, each a task of its own", EXTREME, "aim 1"),
        Ratio("(h) peak memory of comparing 100,000 pairs, GB", peak / 1e9, "≤ 1", f"{peak / 2**20:,.0f} MiB"),
    ]


def _measured() -> None:
    effects = drawn(*LARGE)
    of = registration(effects)
    comparison(of, Paired(pairs(of, effects), NOBODY, []), V1)
    # Not `ru_maxrss`: it begins with what the parent held when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    sys.stdout.write(json.dumps(int(peak) * 1024))


if __name__ == "__main__":
    _measured()
