"""The Harbor source: trial directories, the files of their jobs, reward files, and the predecessor's run files.

Here: `decode`, a pure function of a batch, its fast path, and which files are read. Not here: the types
(`harbor_types`), the careful reading of what the fast path refuses (`harbor_reading`), the frames (`harbor_frames`),
and the predecessor's format (`terminal_bench`).
"""

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from assets.attempts.contract import BenchmarkRuns, RecordedValues
from assets.attempts.precedence import LISTED, Criterion
from assets.contract import table_name
from assets.sources import harbor_frames, terminal_bench
from assets.sources.documents import Decoded, Document, Fault, Limits, Refused, quarantine, uncollected
from assets.sources.harbor_reading import (
    FoundRun,
    FoundTrial,
    Reading,
    SideFile,
    found_trial,
    read_result,
    read_side_file,
)
from assets.sources.harbor_types import Trial
from assets.sources.json_text import deeper_than
from assets.sources.scalars import is_identifier
from assets.sources.trials import candidates, tables

RESULT = "/result.json"
RUN_RESULTS = "/results.json"
SIDE_FILES = ("/verifier/reward.json", "/verifier/reward.txt")
READS = (RESULT, RUN_RESULTS, *SIDE_FILES)
"""Ends of the keys that are read: of a trial's directory a few kilobytes, never its logs and recordings."""

PRECEDENCE = (LISTED, Criterion("depth", descending=False), Criterion("uri", descending=False))
"""Of copies of one trial the least deep path counts: a job directory is easily copied into another one."""

_TRIAL = msgspec.json.Decoder(Trial)


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of files as frames; never raises for what a document holds.

    Documents are numbered from `first`: Harbor's trials, the predecessor's trials and their files, then files of runs,
    then reward files. What the predecessor's files come to is in the parts that `terminal_bench` joins.
    """
    trials: list[FoundTrial] = []
    entries: list[terminal_bench.FoundEntry] = []
    files: list[terminal_bench.TrialFile] = []
    runs: list[FoundRun] = []
    side_files: list[SideFile] = []
    refused: list[Refused] = []
    with uncollected():
        for reading in _readings(documents, limits.max_depth):
            match reading:
                case FoundTrial():
                    trials.append(reading)
                case terminal_bench.FoundEntry():
                    entries.append(reading)
                case terminal_bench.TrialFile():
                    files.append(reading)
                case FoundRun():
                    runs.append(reading)
                case SideFile():
                    side_files.append(reading)
                case Refused():
                    refused.append(reading)
        observed, validity = harbor_frames.trials(trials, first)
        first += len(trials)
        parts = terminal_bench.parts(entries, files, first)
        first += len(entries) + len(files)
        of_runs, described, reported = harbor_frames.runs(runs, first)
        first += len(runs)
        beside, recorded = harbor_frames.side_files(side_files, first)
    return Decoded(
        {
            **tables(observed),
            **parts,
            table_name(BenchmarkRuns): described,
            table_name(RecordedValues): pl.concat([validity, reported, recorded]),
        },
        pl.concat([candidates(observed), of_runs]),
        beside,
        quarantine(refused),
        first + len(side_files),
    )


def _readings(
    documents: Sequence[Document], max_depth: int
) -> Iterator[Reading | terminal_bench.FoundEntry | terminal_bench.TrialFile]:
    for document in documents:
        if document.uri.endswith(RUN_RESULTS):
            yield from terminal_bench.read_results(document, max_depth)
        elif document.uri.endswith(SIDE_FILES):
            yield read_side_file(document, max_depth)
        else:
            yield _glance(document, max_depth) or read_result(document, max_depth)


def _glance(document: Document, max_depth: int) -> FoundTrial | None:
    """The fast path: a trial that needs no second look; null for anything else, right or wrong.

    msgspec looks at neither the encoding nor the depth of a field that it skips.
    """
    content = document.content
    try:
        if not content.isascii():
            content.decode()
        trial = _TRIAL.decode(content)
        identified = is_identifier(trial.id) and is_identifier(trial.task_name)
        if not identified or (trial.source is not None and not is_identifier(trial.source)):
            return None
        return None if deeper_than(content, max_depth) else found_trial(document, trial)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Fault):
        return None
