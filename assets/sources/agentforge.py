"""The AgentForge source: trials of a job and its result become observations; packs give a staged trial its weights.

Here: both decoders, each a pure function of a batch, and `assemble`, which joins trials with packs. Not here: reading a
document (`agentforge_reading`), its types (`agentforge_types`), and any reward (`assets.rewards.staged`).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from assets.attempts.contract import RecordedValues, StageValues
from assets.contract import empty, schema, table_name
from assets.landing.contract import Quarantine
from assets.sources import json_text
from assets.sources.agentforge_reading import (
    SOURCE,
    FoundResult,
    FoundTrial,
    attempt_id,
    claimed_identifier,
    read_pack,
    read_piece,
)
from assets.sources.agentforge_types import Pack, Trial
from assets.sources.columns import from_rows, maps, series
from assets.sources.documents import (
    CANDIDATES,
    SIDE_FILES,
    Decoded,
    Document,
    Fault,
    Limits,
    Refused,
    quarantine,
    uncollected,
)
from assets.sources.pieces import pieces
from assets.sources.trials import OBSERVED, candidates, tables

TRIALS = "agentforge_trials"
PACKS = "agentforge_packs"
UNKNOWN_TASK = "unknown"
"""What a trial is filed under that names neither a pack nor a scenario."""
METRIC = {"metric_key": pl.String(), "value": pl.Float64()}
STAGE = {"id": pl.String(), "metric_key": pl.String(), "weight": pl.Float64(), "hidden": pl.Boolean()}

PARTS: Mapping[str, Mapping[str, pl.DataType]] = {
    TRIALS: {**OBSERVED, "pack_key": pl.String(), "stage_metrics": pl.List(pl.Struct(METRIC))},
}
"""Trials before they know their pack: their columns as observed, the key of the pack, and every metric recorded."""

PACK_PARTS: Mapping[str, Mapping[str, pl.DataType]] = {
    PACKS: {
        "document": pl.Int64(),
        "landed_on": pl.Date(),
        "pack_key": pl.String(),
        "sha256": pl.String(),
        "last_modified": pl.Datetime("us", "UTC"),
        "uri": pl.String(),
        "reason": pl.String(),
        "stages": pl.List(pl.Struct(STAGE)),
    },
}
"""Versions of packs; `reason` is `pack_invalid`, and `stages` null, where a version can give no weights."""


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of trials and results as frames; never raises for what a document holds.

    Documents are numbered from `first`: trials, then results. Each line of a `.jsonl` object is a document of its own.
    """
    trials: list[FoundTrial] = []
    results: list[FoundResult] = []
    refused: list[Refused] = []
    with uncollected():
        for piece in chain.from_iterable(map(pieces, documents)):
            match read_piece(piece, limits.max_depth):
                case FoundTrial() as trial:
                    trials.append(trial)
                case FoundResult() as result:
                    results.append(result)
                case Refused() as fault:
                    refused.append(fault)
    observed = _observed(trials, first)
    runs = _runs(results, first + observed.height)
    recorded = pl.concat([_recorded_of_trials(observed, trials), _recorded_of_runs(runs, results)])
    return Decoded(
        {TRIALS: observed, table_name(RecordedValues): recorded},
        pl.concat([candidates(observed), runs]),
        pl.DataFrame(schema=SIDE_FILES),
        quarantine(refused),
        first + len(trials) + len(results),
    )


def decode_packs(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of packs, of any day, as the one frame of `PACK_PARTS`; numbered from `first` as they come.

    A pack that cannot be read stands there as invalid, under the key that it names or else its file's name.
    """
    every = [piece for document in documents for piece in pieces(document)]
    rows, refused = [], []
    for number, piece in enumerate(every, start=first):
        value = stages = reason = None
        try:
            value = json_text.parse(piece.content, limits.max_depth)
            stages = _stages(read_pack(value))
        except Fault as fault:
            reason = "pack_invalid"
            refused.append(Refused(piece.document, fault, piece.within))
        document = piece.document
        key = claimed_identifier(value, "packKey") or PurePosixPath(document.path).stem
        identity = (document.landed_on, key, piece.digest(), document.last_modified, document.uri)
        rows.append((number, *identity, reason, stages))
    return Decoded(
        {PACKS: from_rows(rows, dict(PACK_PARTS[PACKS]))},
        pl.DataFrame(schema=CANDIDATES),
        pl.DataFrame(schema=SIDE_FILES),
        quarantine(refused),
        first + len(every),
    )


def assemble(parts: Mapping[str, pl.DataFrame], first: int) -> Decoded:
    """The observations and attempts of all trials, and the stages of the staged ones.

    A staged trial takes its weights from the latest valid version of its pack that is not younger than itself, else
    from the earliest one: editing a pack changes no trial that was there before.
    """
    trials, packs = parts[TRIALS], parts[PACKS]
    staged = _with_stages(trials.filter(pl.col("reward_recipe") == "staged"), packs)
    observed = trials.drop("pack_reason").join(
        staged.select("document", "pack_reason"), on="document", how="left", maintain_order="left"
    )
    return Decoded(
        {**tables(observed), table_name(StageValues): _stage_values(staged)},
        pl.DataFrame(schema=CANDIDATES),
        pl.DataFrame(schema=SIDE_FILES),
        empty(Quarantine),
        first,
    )


def _stages(pack: Pack) -> list[dict[str, Any]]:
    return [dict(zip(STAGE, (one.id, one.key(), one.weight, one.hidden), strict=True)) for one in pack.stages]


def _observed(found: Sequence[FoundTrial], first: int) -> pl.DataFrame:
    """The trials as the frame of `PARTS`."""
    columns = PARTS[TRIALS]
    documents = [one.piece.document for one in found]
    trials = [one.trial for one in found]
    configurations = [trial.configuration for trial in trials]
    tasks = [one.pack_key or one.scenario_key or UNKNOWN_TASK for one in configurations]
    values: dict[str, Iterable[Any]] = {
        "document": range(first, first + len(found)),
        "attempt_id": (attempt_id(trial.trial_id) for trial in trials),
        "landed_on": (document.landed_on for document in documents),
        "uri": (document.uri for document in documents),
        "run_id": (trial.job_id for trial in trials),
        "benchmark": tasks,
        "agent_name": (one.agent_kind for one in configurations),
        "task_id": tasks,
        "attempt_index": (trial.attempt for trial in trials),
        "status": (trial.status for trial in trials),
        "outcome": (trial.status for trial in trials),
        "error": (trial.status != "completed" for trial in trials),
        "reward_recipe": (one.reward_recipe for one in configurations),
        "plan_k": (one.attempt_count for one in configurations),
        "finished_at_text": (one.finished.text for one in found),
        "scenario_id": (one.scenario_key for one in configurations),
        "last_modified": (document.last_modified for document in documents),
        "path": (one.piece.within for one in found),
        "digest": (one.piece.digest() for one in found),
        "sha256": (document.sha256 for document in documents),
        "pack_key": (one.pack_key for one in configurations),
    }
    constants = {"source": SOURCE, "format": SOURCE, "shape": Trial.shape, "present": True, "running": False}
    constants |= {"fatal": False, "metrics": [], "exceptions": []}
    finished = pl.Series("finished_at", [one.finished.microseconds for one in found], pl.Int64).cast(
        columns["finished_at"]
    )
    metrics = maps("stage_metrics", [trial.metrics or {} for trial in trials], METRIC)
    given = pl.DataFrame(
        [*(series(name, column, columns[name]) for name, column in values.items()), finished, metrics]
    ).with_columns(**{name: pl.lit(value, columns[name]) for name, value in constants.items()})
    nulls = {name: pl.lit(None, dtype) for name, dtype in columns.items() if name not in given.columns}
    return given.with_columns(**nulls).select(list(columns))


def _runs(found: Sequence[FoundResult], first: int) -> pl.DataFrame:
    """The candidates of the jobs' results."""
    rows = []
    for number, (piece, result) in enumerate(found, start=first):
        uri, _, source, landed_on, last_modified, sha256, _ = piece.document
        identity = (number, None, source, landed_on, result.shape, None)
        rows.append((*identity, last_modified, uri, piece.within, piece.digest(), sha256))
    return from_rows(rows, CANDIDATES)


def _recorded_of_trials(observed: pl.DataFrame, found: Sequence[FoundTrial]) -> pl.DataFrame:
    staged = pl.col("reward_recipe") == "staged"
    rewards = pl.Series("value", [one.trial.reward for one in found], pl.Float64)
    return _figures(
        observed.with_columns(rewards, field=pl.when(staged).then(pl.lit("staged_reward")).otherwise(pl.lit("reward")))
    )


def _recorded_of_runs(runs: pl.DataFrame, found: Sequence[FoundResult]) -> pl.DataFrame:
    figures = {"mean_reward": "mean_reward", "pass_at_1": "pass_at1", "pass_at_k": "pass_at_k"}
    jobs = runs.with_columns(pl.Series("run_id", [one.result.job_id for one in found], pl.String))
    each = [
        jobs.with_columns(
            pl.Series("value", [getattr(one.result, field) for one in found], pl.Float64), field=pl.lit(f"job:{name}")
        )
        for name, field in figures.items()
    ]
    return _figures(pl.concat(each))


def _figures(told: pl.DataFrame) -> pl.DataFrame:
    """Rows of `recorded_values` behind their document; a figure that is absent or null makes a row that says so."""
    null = pl.col("value").is_null()
    return told.with_columns(
        recorded_in="uri",
        value_type=pl.when(null).then(pl.lit("null")).otherwise(pl.lit("number")),
        text=pl.lit(None, pl.String),
    ).select("document", *schema(RecordedValues))


def _with_stages(staged: pl.DataFrame, packs: pl.DataFrame) -> pl.DataFrame:
    """The trials with `stages` and `pack_sha256` of their pack's version, or else with the reason why there is none."""
    own = staged.select("document", "attempt_id", "landed_on", "pack_key", "last_modified", "stage_metrics")
    # Of versions of one moment the last by uri counts, seen from either side.
    versions = (
        packs.filter(pl.col("reason").is_null())
        .sort("last_modified", "uri", "sha256")
        .unique(["pack_key", "last_modified"], keep="last", maintain_order=True)
        .select("pack_key", "last_modified", "stages", pack_sha256="sha256")
    )
    nearest = partial(pl.DataFrame.join_asof, other=versions, on="last_modified", by="pack_key", check_sortedness=False)
    before = nearest(own.sort("last_modified"), strategy="backward")
    after = nearest(before.filter(pl.col("stages").is_null()).select(own.columns), strategy="forward")
    known = pl.col("pack_key").is_in(packs["pack_key"].unique().to_list()).fill_null(value=False)
    reason = pl.when(known).then(pl.lit("pack_invalid")).otherwise(pl.lit("pack_missing"))
    return (
        pl.concat([before.filter(pl.col("stages").is_not_null()), after])
        .with_columns(pack_reason=pl.when(pl.col("stages").is_null()).then(reason))
        .sort("document")
    )


def _stage_values(staged: pl.DataFrame) -> pl.DataFrame:
    """One row per stage of each trial that has a pack, beside the value that the trial recorded."""
    values = (
        staged.select("document", "stage_metrics")
        .explode("stage_metrics", empty_as_null=False, keep_nulls=False)
        .unnest("stage_metrics")
    )
    return (
        staged.filter(pl.col("stages").is_not_null())
        .with_columns(position=pl.int_ranges(pl.col("stages").list.len()))
        .explode("stages", "position", empty_as_null=False, keep_nulls=False)
        .with_columns(pl.col("stages").struct.unnest())
        .join(values, on=["document", "metric_key"], how="left", maintain_order="left")
        .rename({"id": "stage_id"})
        .select("document", *schema(StageValues))
    )
