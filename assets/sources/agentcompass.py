"""The AgentCompass source: files of two generations of benchmark results become tasks, attempts, records and runs.

Here: `decode`, a pure function of a batch: which file is what, by its place in a run, and the rows of each part. Not
here: what a file holds (`agentcompass_reading`, `agentcompass_declaration`), and what the files of a run come to
together (`agentcompass_runs`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import polars as pl

from assets.attempts.contract import BenchmarkRuns
from assets.contract import schema
from assets.sources.agentcompass_declaration import Declaration, read_run
from assets.sources.agentcompass_reading import NOTHING, Outcome, read_record, read_result, read_task
from assets.sources.columns import from_rows
from assets.sources.documents import (
    CANDIDATES,
    SIDE_FILES,
    Decoded,
    Document,
    Fault,
    Limits,
    Refused,
    located,
    quarantine,
    uncollected,
)
from assets.sources.pieces import Piece, pieces
from assets.sources.trials import OBSERVED

TASKS = "agentcompass_tasks"
ATTEMPTS = "agentcompass_attempts"
RECORDS = "agentcompass_records"
RUNS = "agentcompass_runs"

IDENTITY = ("landed_on", "uri", "path", "last_modified", "digest", "sha256")
_FILE = {**{name: CANDIDATES[name] for name in ("document", *IDENTITY)}, "root": pl.String()}
_TASK = {name: OBSERVED[name] for name in ("task_id", "category", "plan_k", "plan_strategy")}
_OUTCOME = {name: OBSERVED[name] for name in Outcome._fields}
MEASURED = Declaration._fields[4:]
"""How a run wants to be measured: columns of `benchmark_runs`."""

PARTS: Mapping[str, Mapping[str, pl.DataType]] = {
    TASKS: {
        **_FILE,
        "home": pl.String(),
        "directory": pl.String(),
        **_TASK,
        "attempts": pl.List(pl.Int64()),
        "running": pl.Boolean(),
        "allocated": pl.Boolean(),
    },
    ATTEMPTS: {**_FILE, "directory": pl.String(), "attempt_index": pl.Int64(), **_OUTCOME},
    RECORDS: {
        **_FILE,
        "record": pl.Int64(),
        "folder": pl.String(),
        **_TASK,
        "attempt_index": pl.Int64(),
        "present": pl.Boolean(),
        **_OUTCOME,
        "recorded_correct": pl.Boolean(),
        "recorded_score": pl.Float64(),
    },
    RUNS: {
        **_FILE,
        "home": pl.String(),
        **{name: OBSERVED[name] for name in ("run_id", "benchmark", "model_name", "agent_name")},
        **{name: schema(BenchmarkRuns)[name] for name in MEASURED},
    },
}
"""What stands in the files, before they are joined; every row is a document of its own.

Tasks of release 1.0, the attempts beside them, one row per attempt of a task's record (`record` is the document of the
first), and runs (`run_id` and `benchmark` are null where the file names none). `home` is the directory of a run below
the landing day, `folder` that of a file, `directory` that of a task, and `root` the uri of the day's own folder: a
store that was moved has every directory twice, and their files do not meet. A task is `running` where its directory
says so, and merely `allocated` where nothing of it is published; `recorded_correct` and `recorded_score` are a verdict
that its own status denies.
"""

Row = tuple[Any, ...]


class Place(NamedTuple):
    """Where a file stands, as its key below the landing day tells.

    part: what that makes it; null where it is no result: archived retries, checkpoints, artifacts. home: directory of
    its run, or of the file itself for a record. directory, state: of its task, where it has one. attempt: which one.
    """

    part: str | None
    home: str
    directory: str = ""
    state: str | None = None
    attempt: int = 0


_DETAILS = re.compile(
    r"(?P<directory>(?:(?P<home>.*?)/)?details/(?:(?P<state>running|normal|error|fatal)/)?[^/]+)"
    r"/(?:task\.json|attempt-(?P<attempt>[1-9]\d{0,14})/(?P<file>.+))",
    re.DOTALL | re.ASCII,
)


_STATES = "(?:running|normal|error|fatal)/"
_INSIDE_A_TASK = re.compile(rf"(?:.*/)?details/(?:{_STATES})?(?!{_STATES})[^/]+/.+", re.DOTALL | re.ASCII)


def place(path: str) -> Place:
    """Where the file of this key below the landing day stands."""
    if found := _DETAILS.fullmatch(path):
        home, directory, state = found["home"] or "", found["directory"], found["state"]
        if found["attempt"] is None:
            return Place(TASKS, home, directory, state)
        return Place(
            ATTEMPTS if found["file"] == "result.json" else None, home, directory, state, int(found["attempt"])
        )
    if _INSIDE_A_TASK.fullmatch(path):
        return Place(RECORDS, "")  # of no run, whatever it looks like
    folder, _, name = path.rpartition("/")
    if name == "run.json":
        return Place(RUNS, folder)
    return Place(RECORDS, f"{folder}/".partition("/details/")[0].removesuffix("/"))


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of files as the frames of `PARTS`; never raises for what a file holds.

    Rows are numbered from `first`, as documents of their own: an attempt of a record is one.
    """
    rows: dict[str, list[Row]] = {name: [] for name in PARTS}
    refused: list[Refused] = []
    numbers = count(first)
    with uncollected():
        for document in documents:
            where = place(document.path)
            if where.part is None:
                continue
            for piece in pieces(document):
                try:
                    rows[where.part].extend(_ROWS[where.part](piece, where, limits.max_depth, numbers))
                except Fault as fault:
                    refused.append(Refused(piece.document, fault, piece.within))
    return Decoded(
        {name: from_rows(rows[name], dict(columns)) for name, columns in PARTS.items()},
        pl.DataFrame(schema=CANDIDATES),
        pl.DataFrame(schema=SIDE_FILES),
        quarantine(refused),
        next(numbers),
    )


def _identity(piece: Piece) -> Row:
    document = piece.document
    file = document.landed_on, document.uri, piece.within, document.last_modified, piece.digest(), document.sha256
    return *file, document.uri.removesuffix(document.path)


def _tasks(piece: Piece, where: Place, max_depth: int, numbers: Iterator[int]) -> Iterator[Row]:
    *task, published = read_task(piece.content, max_depth)
    running = where.state == "running"
    allocated = where.state is None and not published
    yield next(numbers), *_identity(piece), _home(where), where.directory, *task, running, allocated


def _attempts(piece: Piece, where: Place, max_depth: int, numbers: Iterator[int]) -> Iterator[Row]:
    outcome = read_result(piece.content, max_depth)
    if outcome:
        yield next(numbers), *_identity(piece), where.directory, where.attempt, *outcome


def _records(piece: Piece, where: Place, max_depth: int, numbers: Iterator[int]) -> Iterator[Row]:
    *task, attempts = read_record(piece.content, max_depth)
    landed_on, uri, line, *rest = _identity(piece)
    folder = _home(where)
    record = None
    for index, within, outcome, *denied in attempts:
        number = next(numbers)
        record = number if record is None else record
        identity = (number, landed_on, uri, located(line, within), *rest)
        yield *identity, record, folder, *task, index, outcome is not None, *(outcome or NOTHING), *denied


def _runs(piece: Piece, where: Place, max_depth: int, numbers: Iterator[int]) -> Iterator[Row]:
    declared = read_run(piece.content, max_depth)
    yield next(numbers), *_identity(piece), _home(where), *declared


def _home(where: Place) -> str:
    """The directory of a run, below which a file stands.

    Raises:
        Fault: it stands below none.
    """
    if not where.home:
        raise Fault("unknown_shape", "$", "it stands in no run's directory")
    return where.home


_ROWS = {TASKS: _tasks, ATTEMPTS: _attempts, RECORDS: _records, RUNS: _runs}
