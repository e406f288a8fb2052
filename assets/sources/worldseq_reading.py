"""Careful reading of a worldseq document of any shape: what it holds, or the exact place of its first offence.

Here: shapes are recognised by their content, and plain values become attempts. It is slow and is the authority: the
fast path of `worldseq` only skips it where it would find nothing to say. Not here: tables (`worldseq_frames`).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from assets.sources import json_text, worldseq_recorded
from assets.sources.documents import Fault, Refused, located
from assets.sources.json_text import as_object, members
from assets.sources.json_types import read
from assets.sources.pieces import Piece
from assets.sources.scalars import Instant, instant, is_identifier
from assets.sources.worldseq_recorded import Figure, Recorded
from assets.sources.worldseq_task import Task, read_task
from assets.sources.worldseq_types import (
    FORMAT,
    Case,
    Counterfacts,
    Finalizer,
    Full,
    Harbor,
    Identity,
    Truth,
)

EVIDENCE_FIELDS = {
    "categorical": set(Truth.__struct_encode_fields__),
    "counterfactual": set(Counterfacts.__struct_encode_fields__),
}
SIDE_FILE_FIELDS = {"reward", "eligible", "verified", "primary_value"}


class Attempt(msgspec.Struct, gc=False):
    """An attempt as one document tells it; `task` and `full` only where the document carries evidence."""

    piece: Piece
    shape: str
    digest: str
    identity: Identity
    outcome: str
    started: Instant
    finished: Instant
    finalization: str | None
    finalized: Instant
    recorded: Recorded
    task: Task | None = None
    full: Full | None = None


class Totals(NamedTuple):
    """An evaluation summary as a document: its totals."""

    piece: Piece
    figures: list[Figure]


class SideFile(NamedTuple):
    """A `reward.json` beside a Harbor result."""

    piece: Piece
    figures: list[Figure]


Reading = Attempt | Totals | SideFile | Refused


def attempt(
    piece: Piece, body: Full | Finalizer | Harbor | Case, recorded: Recorded, task: Task | None = None
) -> Attempt:
    """The attempt of a decoded document.

    Raises:
        ValueError: a time is malformed.
        Fault: its outcome cannot be told, or it completed without a task.
    """
    identity = body.attempt
    full = body if isinstance(body, Full) else None
    finalization = None if isinstance(body, Case) else body.finalization
    outcome = identity.outcome
    if outcome is None:
        if recorded is worldseq_recorded.NOTHING:
            raise Fault("missing_field", "$.attempt.outcome", "neither an outcome nor a verification")
        outcome = "completed"
    if full is not None and task is None and outcome == "completed":
        raise Fault("missing_field", "$.task", "a completed attempt needs its task")
    return Attempt(
        piece,
        body.shape,
        piece.digest(),
        identity,
        outcome,
        instant(identity.started_at),
        instant(identity.finished_at),
        finalization.status if finalization else None,
        instant(finalization.finalized_at if finalization else None),
        recorded,
        task,
        full,
    )


def read_carefully(piece: Piece, max_depth: int) -> list[Reading]:
    """Everything that a document holds; what is refused says why."""
    value = None
    try:
        value = json_text.parse(piece.content, max_depth)
        return list(_recognise(piece, value))
    except Fault as fault:
        return [Refused(piece.document, fault, piece.within, claimed_id(value))]


def claimed_id(value: Any) -> str | None:
    """The attempt that a plain value says it is, where it is readable that far."""
    identity = value.get("attempt") if isinstance(value, dict) else None
    claimed = identity.get("attemptId") if isinstance(identity, dict) else None
    return attempt_id(claimed) if isinstance(claimed, str) and is_identifier(claimed) else None


def attempt_id(natural: str) -> str:
    """The attempt's id across sources."""
    return f"worldseq:{natural}"


def _recognise(piece: Piece, value: Any) -> Iterable[Reading]:
    if not isinstance(value, dict):
        raise Fault("unknown_shape", "$", "not an object")
    form = value.get("format")
    if form == FORMAT:
        return [_full(piece, value)]
    if form is not None:
        raise Fault("unknown_shape", "$.format", f"an unknown format: {json_text.shown(form)}")
    if {"verification", "finalization"} <= value.keys():
        finalizer = read(Finalizer, value)
        return [attempt(piece, finalizer, worldseq_recorded.verification(finalizer.verification))]
    if {"eligible", "reward", "finalization"} <= value.keys():
        recorded = worldseq_recorded.harbor(_clean(value))
        return [attempt(piece, read(Harbor, value), recorded)]
    if isinstance(value.get("cases"), list):
        return _summary(piece, value)
    if value.keys() >= SIDE_FILE_FIELDS:
        return [SideFile(piece, worldseq_recorded.side_file(_clean(value)))]
    raise Fault("unknown_shape", "$", "none of the known shapes")


def _clean(value: dict[str, Any]) -> dict[str, Any]:
    """The value without lone surrogates, which no table can hold."""
    return read(dict[str, Any], value)


def _full(piece: Piece, value: dict[str, Any]) -> Attempt:
    kinds = dict(_question_kinds(value.get("task")))
    narrowed = [
        (name, _relevant(content, kinds) if name == "evidence" else content) for name, content in members(value)
    ]
    full = read(Full, as_object(narrowed))
    tasks = [read_task(content) for name, content in members(value) if name == "task" and content is not None]
    task = tasks[-1] if value.get("task") is not None else None
    recorded = worldseq_recorded.verification(_clean(value).get("verification"))
    return attempt(piece, full, recorded, task)


def _question_kinds(task: Any) -> Iterable[tuple[str, str]]:
    questions = task.get("questions") if isinstance(task, dict) else None
    for question in questions if isinstance(questions, list) else ():
        if isinstance(question, dict) and isinstance(question.get("id"), str):
            yield question["id"], str(question.get("kind"))


def _relevant(evidence: Any, kinds: dict[str, str]) -> Any:
    """Of each question's evidence the fields of its kind: all others are unknown extra fields."""
    if not isinstance(evidence, dict):
        return evidence
    return as_object([(question, _fields(row, kinds.get(question))) for question, row in members(evidence)])


def _fields(row: Any, kind: str | None) -> Any:
    fields = EVIDENCE_FIELDS.get(kind or "")
    if fields is None or row is None:
        return None if row is None else {}
    if not isinstance(row, dict):
        return row
    return as_object([(name, content) for name, content in members(row) if name in fields])


def _summary(piece: Piece, value: dict[str, Any]) -> Iterable[Reading]:
    yield Totals(piece, worldseq_recorded.totals(_clean(value)))
    for position, entry in enumerate(value["cases"]):
        case = Piece(piece.document, json_text.canonical(entry), located(piece.within, f"$.cases[{position}]"))
        try:
            body = read(Case, entry)
            recorded = worldseq_recorded.verification(body.verification)
            yield attempt(case, body, recorded)
        except Fault as fault:
            yield Refused(piece.document, fault, case.within, claimed_id(entry))
