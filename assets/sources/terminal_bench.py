"""The format of Harbor's predecessor, terminal-bench: one `results.json` per run, with every trial in it.

Here: reading it, and which of its trials left a file of their own. Not here: Harbor's own files.

A run also leaves a `results.json` per trial, `<run>/<task>/<trial>/results.json`. These tell nothing that the run's
file does not; but where some were landed, a trial of that run without one is missing, whatever the run's file says.

https://github.com/harbor-framework/terminal-bench
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import polars as pl

from assets.contract import empty
from assets.landing.contract import Quarantine
from assets.sources import json_text
from assets.sources.columns import from_rows, series
from assets.sources.documents import SIDE_FILES, Decoded, Document, Fault, Refused
from assets.sources.harbor_frames import CONSTANT, described, exactly, metrics, structs, timed
from assets.sources.harbor_reading import FoundRun, attempt_id, claimed_id, figure, parent, pass_at_k
from assets.sources.harbor_types import Count, Figures, Part
from assets.sources.json_types import Identifier, read
from assets.sources.scalars import is_identifier
from assets.sources.trials import OBSERVED, candidates, tables

FORMAT = BENCHMARK = "terminal-bench"
METRIC = "accuracy"
OF_TRIAL = {"id", "uuid", "task_id", "trial_name", "is_resolved"}
BELOW_RUN = 3  # parts of a trial's path below its run: task, trial, file

TRIALS = "terminal_bench_trials"
FILES = "terminal_bench_files"
PARTS: Mapping[str, Mapping[str, pl.DataType]] = {
    TRIALS: {**OBSERVED, "trial_name": pl.String()},
    FILES: {"document": pl.Int64(), "landed_on": pl.Date(), "run_id": pl.String(), "trial_name": pl.String()},
}
"""Trials as the run's file tells of them, and the names that trials with a file of their own go by."""

_NONE = pl.DataFrame(schema=PARTS[TRIALS])


class Run(Part):
    """What `results.json` says of the whole run, its trials apart."""

    agent_name: str | None = None
    model_name: str | None = None
    accuracy: float | None = None
    n_resolved: float | None = None
    n_unresolved: float | None = None
    pass_at_k: Figures | None = None


class Trial(Part):
    """An entry of `results`; `is_resolved` is null where the trial could not be judged."""

    task_id: Identifier
    id: Identifier | None = None
    uuid: Identifier | None = None
    trial_name: str | None = None
    is_resolved: bool | None = None
    failure_mode: str | None = None
    total_input_tokens: Count | None = None
    total_output_tokens: Count | None = None
    trial_started_at: str | None = None
    trial_ended_at: str | None = None


class FoundEntry(NamedTuple):
    """A trial, where in the run's file it stands, and the digest of its own content."""

    document: Document
    within: str
    digest: str
    run: Run
    natural_id: str
    trial: Trial


class TrialFile(NamedTuple):
    """The file of a single trial: of which run it is, and the names that it goes by."""

    document: Document
    run_id: str
    names: set[str]


def read_results(document: Document, max_depth: int) -> Iterator[FoundEntry | TrialFile | FoundRun | Refused]:
    """The trials of a run and the run itself, or a trial's own file; each of them may be refused by itself."""
    try:
        value = json_text.parse(document.content, max_depth)
        results = _results(value)
    except Fault as fault:
        yield Refused(document, fault)
        return
    yield from _of_trial(document, value) if results is None else _of_run(document, value, results)


def parts(entries: Sequence[FoundEntry], files: Sequence[TrialFile], first: int) -> dict[str, pl.DataFrame]:
    """The frames of `PARTS`; entries are numbered from `first`, then files."""
    first_file = first + len(entries)
    names = [
        (number, file.document.landed_on, file.run_id, name)
        for number, file in enumerate(files, start=first_file)
        for name in sorted(file.names)
    ]
    return {TRIALS: _trials(entries, first), FILES: from_rows(names, dict(PARTS[FILES]))}


def assemble(parts: Mapping[str, pl.DataFrame], first: int) -> Decoded:
    """The observations and attempts of all trials; one without a file of its own, where its run has some, is missing.

    Its verdict stands, for the run's file published it.
    """
    run = ["landed_on", "run_id"]
    files = parts[FILES].select(*run, "trial_name").unique()
    unfound = (
        parts[TRIALS]
        .filter(pl.col("trial_name").is_not_null())
        .join(files, on=run, how="semi")
        .join(files, on=[*run, "trial_name"], how="anti")
    )
    missing = pl.col("document").is_in(unfound["document"].implode())
    trials = parts[TRIALS].with_columns(present=~missing).select(list(OBSERVED))
    return Decoded(tables(trials), candidates(trials), pl.DataFrame(schema=SIDE_FILES), empty(Quarantine), first)


def _results(value: Any) -> list[Any] | None:
    """The trials of a run's file; null for the file of a trial."""
    members = value if isinstance(value, dict) else {}
    results = members.get("results")
    if results is None and not members.keys() & OF_TRIAL:
        raise Fault("unknown_shape", "$", "the results of neither a run nor a trial")
    if not isinstance(results, list | None):
        raise Fault("wrong_type", "$.results", "expected an array of trials")
    return results


def _of_trial(document: Document, value: dict[str, Any]) -> Iterator[TrialFile]:
    folders = document.path.split("/")[:-1]
    if len(folders) < BELOW_RUN - 1:
        return
    claimed = value.get("trial_name")
    names = {folders[-1], claimed if isinstance(claimed, str) and is_identifier(claimed) else folders[-1]}
    yield TrialFile(document, "/".join(folders[: 1 - BELOW_RUN]) or ".", names)


def _of_run(
    document: Document, value: dict[str, Any], results: Sequence[Any]
) -> Iterator[FoundEntry | FoundRun | Refused]:
    run = Run()
    try:
        run = read(Run, value)
        run_id = parent(document.path)
        yield FoundRun(document, run_id, BENCHMARK, len(results), None, list(_reported(run)))
    except Fault as fault:
        yield Refused(document, fault)
    for position, entry in enumerate(results):
        within = f"$.results[{position}]"
        try:
            yield _entry(document, within, entry, run)
        except Fault as fault:
            yield Refused(document, fault, within, claimed_id(entry, "id", "uuid"))


def _entry(document: Document, within: str, value: Any, run: Run) -> FoundEntry:
    trial = read(Trial, value)
    natural_id = trial.id or trial.uuid
    if natural_id is None:
        raise Fault("missing_field", "$.id", "neither an id nor a uuid")
    digest = hashlib.sha256(json_text.canonical(value)).hexdigest()
    return FoundEntry(document, within, digest, run, natural_id, trial)


def _reported(run: Run) -> Iterable[Any]:
    for name in ("accuracy", "n_resolved", "n_unresolved"):
        value = getattr(run, name)
        if value is not None:
            yield figure(f"job:{name}", value)
    yield from pass_at_k(run.pass_at_k)


def _trials(found: Sequence[FoundEntry], first: int) -> pl.DataFrame:
    if not found:
        return _NONE
    bodies = [one.trial for one in found]
    values: dict[str, Iterable[Any]] = {
        "attempt_id": [attempt_id(one.natural_id) for one in found],
        "run_id": [parent(one.document.path) for one in found],
        "agent_name": [one.run.agent_name for one in found],
        "model_name": [one.run.model_name for one in found],
        "task_id": map(attrgetter("task_id"), bodies),
        "failure_kind": map(attrgetter("failure_mode"), bodies),
        "n_input_tokens": map(attrgetter("total_input_tokens"), bodies),
        "n_output_tokens": map(attrgetter("total_output_tokens"), bodies),
        "started_at_text": map(attrgetter("trial_started_at"), bodies),
        "finished_at_text": map(attrgetter("trial_ended_at"), bodies),
        "path": [one.within for one in found],
        "digest": [one.digest for one in found],
        "trial_name": map(attrgetter("trial_name"), bodies),
    }
    verdicts = [metrics({} if body.is_resolved is None else {METRIC: body.is_resolved}) for body in bodies]
    unjudged = pl.col("metrics").list.len() == 0
    columns = PARTS[TRIALS]
    return (
        described([one.document for one in found], first)
        .hstack([series(name, column, columns[name]) for name, column in values.items()])
        .hstack([structs("metrics", verdicts), structs("exceptions", [()] * len(found))])
        .with_columns(
            format=pl.lit(FORMAT),
            benchmark=pl.lit(BENCHMARK),
            shape=pl.lit("run"),
            status=pl.col("failure_kind").str.to_lowercase(),
            error=unjudged,
            outcome=pl.when(unjudged).then(pl.lit("infrastructure_failure")).otherwise(pl.lit("completed")),
            failure_kind=pl.when(unjudged).then("failure_kind"),
            **CONSTANT,
        )
        .pipe(timed)
        .pipe(partial(exactly, _NONE))
    )
