"""Lands a folder of sample runs and compares every published figure with the framework's own.

    python -m tests.samples FOLDER

FOLDER holds `harbor/<job>/…` with `EXPECTED.json`, `agentcompass/<run>/…` with `EXPECTED_metric_report.json`, and
`terminal_bench/results.json`, which carries its own figures; any of them may be absent. Prints one line per run, and
each figure that differs by more than 1e-12; the exit status says whether any did.
"""

import datetime as dt
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.landing.contract import Quarantine
from assets.verification.contract import Verifications
from pipelines.build import table_store
from pipelines.run import run
from pipelines.settings import Settings

TOLERANCE = 1e-12
FOLDERS = {"harbor": "harbor", "terminal_bench": "harbor", "agentcompass": "agentcompass"}
COUNTS = ("total", "evaluated", "error", "unavailable", "invalidated")
HARBOR_MEANS = {"metrics_0.26": "harbor_0_26", "metrics_le_0.25(None=0)": "harbor_0_25"}


class Figure(NamedTuple):
    """One expected figure, where it was looked for, and what was found there."""

    run: str
    name: str
    expected: Any
    found: Any

    @property
    def agrees(self) -> bool:
        """Equal, numbers to within the tolerance, null with null only."""
        if self.expected is None or self.found is None:
            return self.expected is None and self.found is None
        return abs(self.expected - self.found) <= TOLERANCE


class Results(NamedTuple):
    """The tables that figures are looked for in."""

    metrics: pl.DataFrame
    totals: pl.DataFrame
    verdicts: pl.DataFrame
    quarantine: pl.DataFrame

    def metric(self, run_id: str, **columns: object) -> dict[str, Any]:
        """The one row of `benchmark_metrics`; an empty mapping where there is none."""
        wanted = [pl.col(name).eq_missing(pl.lit(value)) for name, value in columns.items()]
        rows = self.metrics.filter(pl.col("run_id") == run_id, *wanted)
        if rows.height > 1:
            raise LookupError(f"{run_id}: {rows.height} rows for {columns}")
        return next(rows.iter_rows(named=True), {})


def main(folder: Path) -> int:
    """Land, score and compare; the exit status."""
    with tempfile.TemporaryDirectory(prefix="samples-") as temporary:
        results = landed(folder, Path(temporary))
    figures = [*harbor(folder, results), *agentcompass(folder, results), *terminal_bench(folder, results)]
    sys.stdout.write("".join(f"{line}\n" for line in report(figures, results.quarantine)))
    return 0 if figures and all(figure.agrees for figure in figures) and results.quarantine.is_empty() else 1


def report(figures: Sequence[Figure], quarantine: pl.DataFrame) -> Iterator[str]:
    """One line per run, the figures that differ, and what could not be read."""
    for name in dict.fromkeys(figure.run for figure in figures):
        of_run = [figure for figure in figures if figure.run == name]
        yield f"{name}: {sum(figure.agrees for figure in of_run)} of {len(of_run)} figures equal"
        yield from (f"  {one.name}: expected {one.expected}, found {one.found}" for one in of_run if not one.agrees)
    yield f"{quarantine.height} files in quarantine"
    for row in quarantine.select("uri", "stage", "reason", "path", "detail").iter_rows():
        yield "  " + " ".join(map(str, row))


def landed(folder: Path, temporary: Path) -> Results:
    """The results of a run over the samples, without what they expect."""
    day = dt.datetime.now(dt.UTC).date().isoformat()
    for name, source in FOLDERS.items():
        if not (folder / name).is_dir():
            continue
        below = Path(name) if name == "terminal_bench" else Path()
        shutil.copytree(
            folder / name,
            temporary / "store" / source / day / below,
            ignore=shutil.ignore_patterns("EXPECTED*"),
            copy_function=shutil.copyfile,
            dirs_exist_ok=True,
        )
    settings = Settings(str(temporary / "store"), str(temporary / "tables"), temporary / "dagster")
    run(settings)
    tables = table_store(settings)
    return Results(
        *(tables.scan(one).collect() for one in (BenchmarkMetrics, RunTotals, Verifications, Quarantine)),
    )


def harbor(folder: Path, results: Results) -> Iterator[Figure]:
    """Both means, pass@k, trials and errors of every job, and which rewards are valid."""
    file = folder / "harbor" / "EXPECTED.json"
    for job, expected in (json.loads(file.read_text())["cases"] if file.exists() else {}).items():
        mean = {"reducer": "mean", "policy": "harbor_0_26"}
        means = expected["metrics_0.26"]
        for evaluation, value in means.items():
            wanted = value[0]["mean"] if value else None
            yield Figure(f"harbor {job}", f"{evaluation} mean 0.26", wanted, results.metric(job, **mean).get("value"))
        older = expected["metrics_le_0.25(None=0)"]["mean"]
        yield Figure(
            f"harbor {job}", "mean 0.25", older, results.metric(job, **{**mean, "policy": "harbor_0_25"}).get("value")
        )
        yield from _passes(f"harbor {job}", job, results, next(iter(expected["pass_at_k"].values())), "harbor_0_26")
        totals = results.totals.filter(pl.col("run_id") == job).row(0, named=True)
        n_trials, n_errors = next(iter(expected["n_trials/n_errors"].values()))
        yield Figure(f"harbor {job}", "n_trials", n_trials, totals["valid"])
        yield Figure(f"harbor {job}", "n_errors", n_errors, totals["errors"])
        for trial, valid in expected["reward_valid"].items():
            id_ = json.loads((folder / "harbor" / job / trial / "result.json").read_text())["id"]
            verdict = results.verdicts.filter(pl.col("attempt_id") == f"harbor:{id_}").row(0, named=True)
            yield Figure(f"harbor {job}", f"{trial} reward_valid", valid, verdict["verified"])


def _passes(name: str, run_id: str, results: Results, expected: Mapping[str, float], policy: str) -> Iterator[Figure]:
    """The expected pass@k, and that no other is claimed."""
    found = results.metrics.filter(
        pl.col("run_id") == run_id, pl.col("reducer") == "pass_unbiased", pl.col("policy") == policy
    )
    values = dict(found.filter(pl.col("value").is_not_null()).select("k", "value").iter_rows())
    for k in sorted({*map(int, expected), *values} - {1}):
        yield Figure(name, f"pass@{k}", expected.get(str(k)), values.get(k))


def agentcompass(folder: Path, results: Results) -> Iterator[Figure]:
    """Value, reference value and every count of each series: overall, per category and per hierarchy node."""
    for file in sorted(folder.glob("agentcompass/*/EXPECTED_metric_report.json")):
        run_id = file.parent.name
        for series in json.loads(file.read_text())["series"]:
            key = {name: series[of] for name, of in (("metric", "metric_id"), ("reducer", "reducer"), ("k", "k"))}
            places = [("overall", None, series)]
            places += [("category", _escaped(name), node) for name, node in series["categories"].items()]
            places += [("hierarchy", name, node) for name, node in series["hierarchy"].items()]
            for scope, category, expected in places:
                row = results.metric(run_id, **key, policy="scored_only", scope=scope, category=category)
                yield from _series(
                    f"agentcompass {run_id}", f"{series['series_id']} {category or scope}", expected, row
                )


def _series(name: str, place: str, expected: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Figure]:
    for figure in ("value", "reference_value"):
        yield Figure(name, f"{place} {figure}", expected[figure], row.get(figure))
    for figure in COUNTS:
        yield Figure(name, f"{place} {figure}", expected["counts"][figure], row.get(figure))


def _escaped(category: str) -> str:
    return category.replace("~", "~0").replace("/", "~1")


def terminal_bench(folder: Path, results: Results) -> Iterator[Figure]:
    """Accuracy and pass@k as the run published them."""
    file = folder / "terminal_bench" / "results.json"
    if file.exists():
        published = json.loads(file.read_text())
        row = results.metric("terminal_bench", reducer="mean", policy="strict", metric="accuracy")
        yield Figure("terminal_bench", "accuracy", published["accuracy"], row.get("value"))
        yield from _passes("terminal_bench", "terminal_bench", results, published["pass_at_k"], "strict")


def arguments(given: Sequence[str]) -> Path:
    """The folder of samples that was named."""
    if len(given) != 1 or not Path(given[0]).is_dir():
        raise SystemExit(f"usage: python -m tests.samples FOLDER\n{__doc__}")
    return Path(given[0])


if __name__ == "__main__":
    sys.exit(main(arguments(sys.argv[1:])))
