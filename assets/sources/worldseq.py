"""The worldseq source: documents of four shapes become attempts, their evidence, and what upstream recorded of them.

Here: `decode`, a pure function of a batch, and its fast path. Not here: the types (`worldseq_types`), the careful
reading of what the fast path refuses (`worldseq_reading`), the tables (`worldseq_frames`), and which of several
documents wins (`assets.attempts.precedence`).
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from assets.sources import worldseq_frames, worldseq_recorded
from assets.sources.documents import Decoded, Document, Fault, Limits, Refused
from assets.sources.json_text import deeper_than
from assets.sources.json_types import is_identifier
from assets.sources.worldseq_reading import (
    Attempt,
    Piece,
    Reading,
    SideFile,
    Totals,
    attempt,
    attempt_id,
    read_carefully,
)
from assets.sources.worldseq_task import Task, task_of
from assets.sources.worldseq_types import Full, Identity

_FULL = msgspec.json.Decoder(Full)
_NULL = b"null"


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of documents as frames; never raises for what a document holds.

    Documents are numbered from `first`; each entry of a summary and each line of a `.jsonl` object is a document of
    its own. A document that cannot be read is one row of quarantine, and every other goes on.
    """
    attempts: list[Attempt] = []
    totals: list[Totals] = []
    side_files: list[SideFile] = []
    refused: list[Refused] = []
    for document in documents:
        for piece in _pieces(document):
            for reading in _read(piece, limits.max_depth):
                match reading:
                    case Attempt():
                        attempts.append(reading)
                    case Totals():
                        totals.append(reading)
                    case SideFile():
                        side_files.append(reading)
                    case Refused():
                        refused.append(reading)
    days = worldseq_frames.days_of(attempts)
    if repeated := worldseq_frames.repeated_days(days):
        refused += [_repeats_day(attempts[index]) for index in repeated]
        attempts = [one for index, one in enumerate(attempts) if index not in repeated]
        days = worldseq_frames.days_of(attempts)
    return worldseq_frames.decoded(attempts, days, totals, side_files, refused, first)


def _pieces(document: Document) -> Iterator[Piece]:
    """The object itself, or its lines; blank lines are none."""
    if not document.uri.endswith(".jsonl") or not document.content.strip():
        yield Piece(document, document.content)
        return
    for number, line in enumerate(document.content.split(b"\n"), start=1):
        if line.strip():
            yield Piece(document, line, number, f"line {number}")


def _read(piece: Piece, max_depth: int) -> Iterable[Reading]:
    """The fast path: a full artifact at its first glance; anything unusual is read carefully."""
    content = piece.content
    try:
        full = _FULL.decode(content)
        if not content.isascii():
            content.decode()  # unknown fields are skipped without a look at their encoding
        if deeper_than(content, max_depth) or not _identified(full):
            return read_carefully(piece, max_depth)
        task = _task(full, content, max_depth)
        if isinstance(task, Fault):
            return read_carefully(piece, max_depth)
        return (attempt(piece, "full", full, worldseq_recorded.verification(full.verification), task=task),)
    except (msgspec.DecodeError, ValueError, RecursionError, Fault):
        return read_carefully(piece, max_depth)


def _task(full: Full, content: bytes, max_depth: int) -> Task | Fault | None:
    """The task, remembered by its bytes; a fault where there may be a second one to check, or a broken one."""
    raw = bytes(full.task)
    if raw == _NULL:
        return None
    before = content[: content.find(raw)]
    if before.count(b'"task"') > 1 or b"\\u00" in before:
        return Fault("repeated", "$.task", "perhaps named twice")
    return task_of(raw, max_depth)


def _identified(full: Full) -> bool:
    """Whether every identifier may be one."""
    identity: Identity = full.attempt
    identifiers = [
        identity.attempt_id,
        identity.campaign_id,
        identity.arm_id,
        identity.family_id,
        identity.company_id,
        identity.task_id,
        identity.scenario_id,
    ]
    identifiers += [answer.question_id for answer in full.answers or ()]
    identifiers += [agreement.agreement_id for agreement in full.agreements or ()]
    return all(identifier is None or is_identifier(identifier) for identifier in identifiers)


def _repeats_day(refused: Attempt) -> Refused:
    seen: set[int] = set()
    path = "$.trajectory"
    detail = "a day twice"
    for position, entry in enumerate((refused.full and refused.full.trajectory) or ()):
        if entry.day in seen:
            path, detail = f"$.trajectory[{position}].day", f"day {entry.day} a second time"
            break
        seen.add(entry.day)
    fault = Fault("duplicate_day", path, detail, stage="contract")
    return Refused(refused.piece.document, fault, refused.piece.within, attempt_id(refused.identity.attempt_id))
