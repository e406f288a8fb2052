"""Harbor's trials, runs and side files as read become frames, column by column over the whole batch.

Here: numbering, flattening, and what a column derives from others. Not here: reading documents (`harbor_reading`).
"""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from assets.attempts.contract import BenchmarkRuns, RecordedValues
from assets.contract import schema
from assets.sources.columns import from_rows, series
from assets.sources.documents import CANDIDATES, SIDE_FILES, Document
from assets.sources.harbor_reading import SOURCE, Figure, FoundRun, FoundTrial, SideFile
from assets.sources.harbor_types import Failure, Score
from assets.sources.scalars import instant
from assets.sources.trials import OBSERVED

ADHOC = "adhoc"
"""The dataset of trials that name none."""
CONSTANT = {"present": pl.lit(value=True), "running": pl.lit(value=False), "fatal": pl.lit(value=False)}
"""Every trial was found, and has ended."""
FIGURE = ("field", "value", "value_type", "text")
RUN = ("run_id", "benchmark", "registered", "running")

Row = tuple[Any, ...]

_OBSERVED = pl.DataFrame(schema=OBSERVED)
_CANDIDATES = pl.DataFrame(schema=CANDIDATES)
_SIDE_FILES = pl.DataFrame(schema=SIDE_FILES)
_BENCHMARK_RUNS = pl.DataFrame(schema={"document": pl.Int64(), **schema(BenchmarkRuns)})
_RECORDED_VALUES = pl.DataFrame(schema={"document": pl.Int64(), **schema(RecordedValues)})

# Days that exist, 29 February apart: Arrow gives up the whole column for one that does not.
_DAY = "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_USUAL = f"^[12][0-9]{{3}}-(?:{_DAY})T{_CLOCK}Z$"


def described(documents: Sequence[Document], first: int) -> pl.DataFrame:
    """What identifies each document, numbered from `first`: the columns that tables and candidates share."""
    landed = _columns(Document._fields, documents)
    return pl.DataFrame(
        {
            "document": np.arange(first, first + len(documents)),
            **{name: pl.Series(landed[name], dtype=pl.String) for name in ("source", "uri", "sha256")},
            # Python's own days and times take Polars five times as long as Arrow.
            "landed_on": pl.Series(pa.array(landed["landed_on"], pa.date32())),
            "last_modified": pl.Series(pa.array(landed["last_modified"], pa.timestamp("us", "UTC"))),
        }
    )


def exactly(columns: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with exactly the columns of an empty frame, null where they have none."""
    return pl.concat([columns, rows], how="diagonal").select(columns.columns)


def trials(found: Sequence[FoundTrial], first: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The trials as `OBSERVED`, and what they recorded of themselves; numbered from `first`."""
    told = _columns(FoundTrial._fields, found)
    messages = [one[0].exception_message if one else None for one in told["failures"]]
    error = pl.col("exceptions").list.len() > 0
    kind = pl.col("exceptions").list.first().struct.field("type")
    scored = pl.col("metrics").list.eval(pl.element().struct.field("value").is_not_null()).list.any()
    failed = error & ~scored
    whole = (
        described(told["origin"], first)
        .hstack([series(name, told[name], dtype) for name, dtype in OBSERVED.items() if name in told])
        .hstack(
            [
                series("failure_message", messages, pl.String()),
                structs("metrics", [metrics(one) if one else () for one in told["rewards"]]),
                structs("exceptions", [_exceptions(one) if one else () for one in told["failures"]]),
            ]
        )
        .with_columns(
            pl.col("benchmark").fill_null(ADHOC),
            attempt_id=pl.format(f"{SOURCE}:{{}}", "attempt_id"),
            format=pl.lit(SOURCE),
            shape=pl.lit("trial"),
            error=error,
            status=pl.coalesce(kind.str.to_lowercase(), pl.lit("completed")),
            outcome=pl.when(failed).then(pl.lit("infrastructure_failure")).otherwise(pl.lit("completed")),
            failure_kind=pl.when(failed).then(kind),
            failure_message=pl.when(failed).then("failure_message"),
            digest="sha256",
            **CONSTANT,
        )
        .pipe(timed)
    )
    return exactly(_OBSERVED, whole), _recorded_validity(whole, told["reward_valid"])


def timed(trials: pl.DataFrame) -> pl.DataFrame:
    """The trials with the times of their texts, which stay only where they tell no time in UTC."""
    names = ("started_at", "finished_at")
    return trials.with_columns(**{name: _times(trials[f"{name}_text"]) for name in names}).with_columns(
        pl.when(pl.col(name).is_null()).then(f"{name}_text") for name in names
    )


def runs(found: Sequence[FoundRun], first: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Candidates, `benchmark_runs` and `recorded_values` of files that describe runs, numbered from `first`."""
    if not found:
        return _CANDIDATES, _BENCHMARK_RUNS, _RECORDED_VALUES
    told = from_rows([one[1:5] for one in found], {name: _BENCHMARK_RUNS.schema[name] for name in RUN})
    whole = described([one.document for one in found], first).hstack(told)
    # Equal bytes in two directories are two runs.
    digest = pl.concat_str("sha256", "run_id", separator=" ")
    whole = whole.with_columns(shape=pl.lit("run"), digest=digest, duplicates=pl.lit(0, pl.Int64))
    recorded = _recorded(whole, [one.figures for one in found])
    return exactly(_CANDIDATES, whole), exactly(_BENCHMARK_RUNS, whole), recorded


def side_files(found: Sequence[SideFile], first: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Side files as `SIDE_FILES`, and their figures; numbered from `first`."""
    if not found:
        return _SIDE_FILES, _RECORDED_VALUES
    whole = described([one.document for one in found], first).with_columns(
        pl.Series("directory", [one.directory for one in found], pl.String), shape=pl.lit("trial")
    )
    return exactly(_SIDE_FILES, whole), _recorded(whole, [one.figures for one in found])


def metrics(scores: Mapping[str, Score]) -> list[Row]:
    """The scores as entries of `metrics`."""
    return [(name, None if value is None else float(value), isinstance(value, bool)) for name, value in scores.items()]


def structs(name: str, lists: Sequence[Sequence[Row]]) -> pl.Series:
    """The column of `OBSERVED` with these lists of entries; far faster than from Python dictionaries."""
    entry = OBSERVED[name].inner  # type: ignore[attr-defined]  # a list column
    entries = from_rows(list(chain.from_iterable(lists)), dict(entry)).to_struct()
    offsets = np.cumsum([0, *map(len, lists)])
    return pl.Series(name, pa.LargeListArray.from_arrays(pa.array(offsets), entries.to_arrow()))


def _columns(names: Sequence[str], rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    return dict(zip(names, zip(*rows, strict=True) if rows else repeat(()), strict=False))


def _exceptions(failures: Sequence[Failure]) -> list[Row]:
    return [
        (one.exception_type, one.policy_override.has_valid_reward if one.policy_override else None) for one in failures
    ]


def _times(texts: pl.Series) -> pl.Series:
    """The times in UTC that texts tell: Arrow reads the usual form ten times as fast as Polars, `instant` any other."""
    usual = pl.select(pl.when(texts.str.contains(_USUAL)).then(texts)).to_series()
    times = pl.Series(usual.to_arrow().cast(pa.large_string()).cast(pa.timestamp("us", "UTC")))
    unusual = times.is_null() & texts.is_not_null()
    if not unusual.any():
        return times
    told = {text: _microseconds(text) for text in texts.filter(unusual).unique()}
    return times.fill_null(texts.replace_strict(told, default=None, return_dtype=pl.Int64).cast(times.dtype))


def _microseconds(text: str) -> int | None:
    try:
        return instant(text).microseconds
    except ValueError:
        return None


def _recorded(owners: pl.DataFrame, figures: Sequence[Sequence[Figure]]) -> pl.DataFrame:
    """The figures of each owner as rows of `recorded_values`."""
    rows = from_rows(list(chain.from_iterable(figures)), {name: _RECORDED_VALUES.schema[name] for name in FIGURE})
    owner = np.repeat(np.arange(len(figures)), np.fromiter(map(len, figures), np.int64, len(figures)))
    return exactly(_RECORDED_VALUES, owners[owner].hstack(rows).with_columns(recorded_in="uri"))


def _recorded_validity(trials: pl.DataFrame, valid: Sequence[bool | None]) -> pl.DataFrame:
    """Of each trial that says whether its reward is valid, what it says."""
    told = trials.drop("run_id").with_columns(
        pl.Series("value", valid, pl.Boolean).cast(pl.Float64),
        recorded_in="uri",
        field=pl.lit("reward_valid"),
        value_type=pl.lit("boolean"),
    )
    return exactly(_RECORDED_VALUES, told.filter(pl.col("value").is_not_null()))
