"""What the files of AgentCompass runs come to together: `assemble` joins attempts with their tasks and both with runs.

Here: pure Polars over the parts of all batches; days never meet. Which attempts count, what became of those that left
nothing, and which of two tasks of one name does. Not here: what a file holds (`agentcompass`).
"""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from assets.attempts.contract import BenchmarkRuns, RecordedValues
from assets.contract import schema, table_name
from assets.landing.contract import Quarantine
from assets.sources.agentcompass import ATTEMPTS, RECORDS, RUNS, TASKS
from assets.sources.documents import CANDIDATES, SIDE_FILES, Decoded
from assets.sources.trials import OBSERVED, candidates, tables

SOURCE = "agentcompass"
SHAPE = "task"
RUN_SHAPE = "run"

HOME = ["landed_on", "root", "home"]
FOLDER = ["landed_on", "root", "folder"]
DIRECTORY = ["landed_on", "root", "directory"]
RUN = ["landed_on", "run_id", "benchmark"]
TASK = [*RUN, "task_id"]
FILE = ("document", "uri", "path", "last_modified", "digest", "sha256")
UNIT = ("unit", "unit_uri", "unit_path", "unit_last_modified", "unit_digest", "unit_sha256")
"""The columns of `FILE`, of what stands or falls as a whole: a task with all its attempts, a run's file."""
ABSENT = 0
"""Stands in the id of a task that has no attempt at all, in the place of an attempt's number."""


class Kept(NamedTuple):
    """The rows that count, copies of one another included, and the quarantine rows of the others."""

    rows: pl.DataFrame
    superseded: pl.DataFrame


def assemble(parts: Mapping[str, pl.DataFrame], first: int) -> Decoded:
    """Observations, attempts, runs and contradicted verdicts of all runs; documents without a number get one.

    Free numbers start at `first`. Of several tasks of one run, benchmark and id, as of several files of one run, the
    newest counts, then the one of the greatest uri; copies of it stay, for the count of copies.
    """
    ordered = {name: part.sort("landed_on", "uri", "document") for name, part in parts.items()}
    runs = ordered[RUNS].pipe(_named)
    tasks = ordered[TASKS].pipe(_attempted, ordered[ATTEMPTS])
    records = ordered[RECORDS].pipe(_recorded, runs)
    every = pl.concat([tasks, records], how="diagonal").pipe(_placed, runs).pipe(_numbered, first)
    attempts, other_tasks = _newest(every, TASK, ["digest", "running", "agent_name", "model_name"])
    described, other_runs = _newest(runs.with_columns(**_as_unit("document")), RUN, [])
    observed = attempts.pipe(_observed)
    return Decoded(
        {
            **tables(observed),
            table_name(BenchmarkRuns): _benchmark_runs(described),
            table_name(RecordedValues): _contradicted(observed),
        },
        pl.concat([candidates(observed), _run_candidates(described)]),
        pl.DataFrame(schema=SIDE_FILES),
        pl.concat([_orphans(ordered[ATTEMPTS], ordered[TASKS]), other_tasks, other_runs]),
        first + tasks["document"].null_count(),
    )


def _named(runs: pl.DataFrame) -> pl.DataFrame:
    """Every run's file with the run and benchmark that it, or else its directory, names."""
    return runs.with_columns(run_id=pl.coalesce("run_id", RUN_ID), benchmark=pl.coalesce("benchmark", BENCHMARK))


BENCHMARK = pl.col("home").str.extract(r"([^/]*)\z")
RUN_ID = pl.col("home").str.replace(r"/[^/]*\z", "")
"""Of a directory of one part: both."""


def _recorded(records: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The attempts of records. Their run's directory: the nearest upwards with a run's file, else the record's own.

    Upwards ends with a run's directory and a benchmark's in it: a file that stands higher speaks of several benchmarks.
    """
    parts = pl.col("folder").str.split("/")
    nearest = (
        records.select(FOLDER)
        .unique()
        .with_columns(depth=pl.int_ranges(2, parts.list.len() + 1))
        .explode("depth")
        .with_columns(home=parts.list.head("depth").list.join("/"))
        .join(runs.select(HOME), on=HOME)
        .sort("depth")
        .unique(FOLDER, keep="last")
        .drop("depth")
    )
    return records.join(nearest, on=FOLDER, how="left", maintain_order="left").with_columns(
        home=pl.coalesce("home", "folder"),
        format=pl.lit("agentcompass-0"),
        running=pl.lit(value=False),
        **_as_unit("record") | {"unit_path": LINE},
    )


LINE = pl.col("path").str.extract(r"\A(line \d+)")
"""Where a record stands in its file, without where an attempt stands in it."""


def _as_unit(number: str) -> dict[str, pl.Expr]:
    return {name: pl.col(column) for name, column in zip(UNIT, (number, *FILE[1:]), strict=True)}


def _attempted(tasks: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """One row per attempt that a task names, and one for a task that names none."""
    present = pl.col("document").is_not_null()
    running = (pl.col("status") == "running").fill_null(value=False)
    return (
        tasks.rename(dict(zip(FILE, UNIT, strict=True)) | {"attempts": "attempt_index"})
        .explode("attempt_index", empty_as_null=True)
        .join(attempts, on=[*DIRECTORY, "attempt_index"], how="left", maintain_order="left")
        .with_columns(
            format=pl.lit("agentcompass-1"),
            present=present,
            running=pl.col("running") | running | (pl.col("allocated") & ~present),
            **{
                own: pl.when(present).then(own).otherwise(of_task)
                for own, of_task in zip(FILE[1:], UNIT[1:], strict=True)
            },
        )
    )


def _placed(rows: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Every attempt with its run, benchmark, harness and model."""
    told = runs.select(*HOME, "run_id", "benchmark", "agent_name", "model_name")
    return rows.join(told, on=HOME, how="left", maintain_order="left").pipe(_named)


def _numbered(rows: pl.DataFrame, first: int) -> pl.DataFrame:
    """Attempts that left nothing have a number of their own too."""
    free = first - 1 + pl.col("document").is_null().cum_sum()
    return rows.with_columns(document=pl.coalesce("document", free.cast(pl.Int64)))


def _newest(rows: pl.DataFrame, key: list[str], content: list[str]) -> Kept:
    """Of the units of one key the newest, then that of the greatest uri, then the later in it; and its copies."""
    units = rows.group_by("unit").agg(pl.col(*UNIT[1:], *key).first())
    contested = units.filter(pl.len().over(key) > 1)
    contents = (
        rows.join(contested, on="unit", how="semi", maintain_order="left")
        .group_by("unit", maintain_order=True)
        .agg(content=pl.struct("unit_digest", *content).struct.json_encode().str.join())
    )
    losers = (
        contested.join(contents, on="unit")
        .sort("unit_last_modified", "unit_uri", "unit", descending=True)
        .with_columns(pl.col("content", "unit_sha256").first().over(key).name.prefix("winner_"))
        .filter(pl.col("content") != pl.col("winner_content"))
    )
    detail = pl.format("another document of this shape takes precedence: the object with SHA-256 {}", WINNER)
    refused = losers.with_columns(uri="unit_uri", path="unit_path", sha256="unit_sha256")
    return Kept(
        rows.join(losers, on="unit", how="anti", maintain_order="left"),
        refused.pipe(_quarantine, "duplicate", "superseded", detail),
    )


WINNER = pl.col("winner_unit_sha256")


def _orphans(attempts: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Quarantine rows of attempts whose task cannot be read, or is not there."""
    alone = attempts.join(tasks, on=DIRECTORY, how="anti", maintain_order="left")
    return alone.pipe(_quarantine, "decode", "unknown_shape", pl.lit("an attempt without a task.json that names it"))


def _quarantine(files: pl.DataFrame, stage: str, reason: str, detail: pl.Expr) -> pl.DataFrame:
    return files.select(
        "uri",
        "landed_on",
        "path",
        "sha256",
        source=pl.lit(SOURCE),
        stage=pl.lit(stage),
        reason=pl.lit(reason),
        detail=detail,
        attempt_id=pl.lit(None, pl.String),
    ).select(*schema(Quarantine))


def _observed(rows: pl.DataFrame) -> pl.DataFrame:
    """The columns of `OBSERVED`, behind them the verdicts that a status denies."""
    clean = ~pl.col("error") & (pl.col("status") == "completed")
    constants = {
        "source": pl.lit(SOURCE),
        "shape": pl.lit(SHAPE),
        "exceptions": pl.lit([], OBSERVED["exceptions"]),
        **{name: pl.lit(None, dtype) for name, dtype in OBSERVED.items() if name in UNTOLD},
    }
    return (
        rows.with_columns(
            pl.col("error", "fatal").fill_null(value=False),
            metrics=pl.coalesce("metrics", pl.lit([], OBSERVED["metrics"])),
            attempt_id=ATTEMPT_ID,
            **constants,
        )
        .with_columns(
            outcome=pl.when(clean).then(pl.lit("completed")).otherwise(pl.lit("infrastructure_failure")),
            failure_kind=pl.when(~clean).then(FAILURE_KIND),
        )
        .select(*OBSERVED, "recorded_correct", "recorded_score")
    )


FAILURE_KIND = (
    pl.when(pl.col("status") != "completed")
    .then("status")
    .when("fatal")
    .then(pl.lit("fatal_issue"))
    .otherwise(pl.lit("error_recorded"))
)
"""The status, unless it says that all is well beside a recorded error or a fatal issue."""

UNTOLD = (
    "reward_recipe",
    "pack_reason",
    "started_at",
    "started_at_text",
    "finished_at",
    "finished_at_text",
    "agent_version",
    "scenario_id",
)
"""What no file of the framework tells."""


def _escaped(name: str) -> pl.Expr:
    return pl.col(name).str.replace_all("~", "~0", literal=True).str.replace_all("/", "~1", literal=True)


ATTEMPT_ID = pl.format(
    "agentcompass:{}/{}/{}/{}",
    "run_id",
    _escaped("benchmark"),
    _escaped("task_id"),
    pl.col("attempt_index").fill_null(ABSENT),
)
"""Run, benchmark, task and number; `/` in a benchmark or task is `~1`, so that no two attempts share an id."""


def _contradicted(observed: pl.DataFrame) -> pl.DataFrame:
    """`recorded_values` of the verdicts that their own status denies."""
    verdicts = {"correct": "boolean", "score": "number"}
    rows = [
        observed.filter(pl.col(f"recorded_{field}").is_not_null()).with_columns(
            run_id=pl.lit(None, pl.String),
            recorded_in="uri",
            field=pl.lit(field),
            value=pl.col(f"recorded_{field}").cast(pl.Float64),
            value_type=pl.lit(kind),
            text=pl.lit(None, pl.String),
        )
        for field, kind in verdicts.items()
    ]
    return pl.concat(rows).select("document", *schema(RecordedValues))


def _benchmark_runs(runs: pl.DataFrame) -> pl.DataFrame:
    unknown = {name: pl.lit(None, pl.Int64) for name in ("registered", "running")}
    filled = runs.with_columns(source=pl.lit(SOURCE), duplicates=pl.lit(0, pl.Int64), **unknown)
    return filled.select("document", *schema(BenchmarkRuns))


def _run_candidates(runs: pl.DataFrame) -> pl.DataFrame:
    """The candidates of runs' files: equal bytes tell of two runs where they stand in two directories."""
    return runs.with_columns(
        attempt_id=pl.lit(None, pl.String),
        source=pl.lit(SOURCE),
        shape=pl.lit(RUN_SHAPE),
        finalized_at=pl.lit(None, CANDIDATES["finalized_at"]),
        digest=pl.concat_str("digest", "run_id", "benchmark", separator=" "),
    ).select(list(CANDIDATES))
