"""The worldseq source: documents of four shapes become attempts, their evidence, and what upstream recorded of them.

Here: `decode`, a pure function of a batch, and its fast path. Not here: the types (`worldseq_types`), the careful
reading of what the fast path refuses (`worldseq_reading`), the tables (`worldseq_frames`), and which of several
documents wins (`assets.attempts.precedence`).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, cast

import msgspec

from assets.sources import worldseq_frames, worldseq_recorded
from assets.sources.documents import Decoded, Document, Fault, Limits, Refused, uncollected
from assets.sources.json_text import deeper_than
from assets.sources.json_types import closed
from assets.sources.pieces import Piece, pieces
from assets.sources.scalars import is_identifier
from assets.sources.worldseq_frames import Days
from assets.sources.worldseq_reading import (
    Attempt,
    Reading,
    SideFile,
    Totals,
    attempt,
    attempt_id,
    read_carefully,
)
from assets.sources.worldseq_recorded import Recorded
from assets.sources.worldseq_task import Task, task_of
from assets.sources.worldseq_types import Full

CHUNK = 64  # documents whose objects live at once: they fit the processor's cache, which makes half of the speed
DEEPEST = 5  # how deep the closed types nest: evidence, question, branch, values
_CLOSED = msgspec.json.Decoder(closed(Full))
_OPEN = msgspec.json.Decoder(Full)
_NULL = b"null"


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of documents as frames; never raises for what a document holds.

    Documents are numbered from `first`; each entry of a summary and each line of a `.jsonl` object is a document of
    its own. A document that cannot be read is one row of quarantine, and every other goes on.
    """
    with uncollected():
        return _decode(documents, limits.max_depth, first)


def _decode(documents: Iterable[Document], max_depth: int, first: int) -> Decoded:
    parts = (piece for document in documents for piece in pieces(document))
    batch = worldseq_frames.Batch([], [worldseq_frames.trajectory((), 0)], [], [], [])
    while chunk := list(islice(parts, CHUNK)):
        found: list[Attempt] = []
        for reading in chain.from_iterable(_read(piece, max_depth) for piece in chunk):
            match reading:
                case Attempt():
                    found.append(reading)
                case Totals():
                    batch.totals.append(reading)
                case SideFile():
                    batch.side_files.append(reading)
                case Refused():
                    batch.refused.append(reading)
        sound, days, refused = _trajectory(found, len(batch.attempts))
        batch.attempts.extend(sound)
        batch.days.append(days)
        batch.refused.extend(refused)
    return worldseq_frames.decoded(batch, first)


def _trajectory(found: list[Attempt], start: int) -> tuple[list[Attempt], Days, list[Refused]]:
    """The attempts whose trajectory has each day once, their days, and the others; entries are not needed again."""
    days = worldseq_frames.trajectory(found, start)
    refused = []
    if repeating := worldseq_frames.repeating(days):
        refused = [_repeats_day(found[owner - start]) for owner in sorted(repeating)]
        found = [one for owner, one in enumerate(found, start) if owner not in repeating]
        days = worldseq_frames.trajectory(found, start)
    for one in found:
        if one.full:
            one.full.trajectory = None
    return found, days, refused


def _read(piece: Piece, max_depth: int) -> Sequence[Reading]:
    found = _glance(piece, max_depth)
    return (found,) if found else read_carefully(piece, max_depth)


def _glance(piece: Piece, max_depth: int) -> Attempt | None:
    """The fast path: a full artifact that needs no second look; null for anything else, right or wrong."""
    content = piece.content
    try:
        full = _full(content, max_depth)
        if not all(map(is_identifier, _identifiers(full))):
            return None
        return attempt(piece, full, _recorded(full, content, max_depth), _task(full, content, max_depth))
    except (msgspec.DecodeError, ValueError, RecursionError, Fault):
        return None


def _full(content: bytes, max_depth: int) -> Full:
    """The artifact, its encoding and depth checked: msgspec skips unknown fields without a look at either."""
    if not content.isascii():
        content.decode()
    try:
        if max_depth >= DEEPEST:
            return cast("Full", _CLOSED.decode(content))
    except msgspec.ValidationError:
        pass
    full = _OPEN.decode(content)
    if deeper_than(content, max_depth):
        raise Fault("too_deep", "$", "an unknown field nests too deep")
    return full


def _recorded(full: Full, content: bytes, max_depth: int) -> Recorded:
    """The record; of several, the decoder saw the last one only, and nobody how deep the others nest."""
    # Few documents have a backslash at all, and looking for one byte costs next to nothing.
    escaped = b"\\" in content and b"\\u00" in content
    repeated = escaped or content.count(b'"verification"') > 1
    if repeated and deeper_than(content, max_depth):
        raise Fault("too_deep", "$", "nested too deep")
    raw = bytes(full.verification)
    if raw == _NULL:
        return worldseq_recorded.NOTHING
    if deeper_than(raw, max_depth - 1):
        raise Fault("too_deep", "$.verification", "nested too deep")
    return worldseq_recorded.verification(msgspec.json.decode(raw))


def _task(full: Full, content: bytes, max_depth: int) -> Task | None:
    """The task, remembered by its bytes.

    Raises:
        Fault: it is broken, or there may be a second one to check: the decoder saw the last one only.
    """
    raw = bytes(full.task)
    if raw == _NULL:
        return None
    before = content[: content.find(raw)]
    if before.count(b'"task"') > 1 or b"\\u00" in before:
        raise Fault("repeated", "$.task", "perhaps named twice")
    task = task_of(raw, max_depth - 1)
    if isinstance(task, Fault):
        raise Fault(task.reason, task.path, task.detail, task.stage)
    return task


def _identifiers(full: Full) -> Iterator[str]:
    identity = full.attempt
    yield identity.attempt_id
    for identifier in (
        identity.campaign_id,
        identity.arm_id,
        identity.family_id,
        identity.company_id,
        identity.task_id,
        identity.scenario_id,
    ):
        if identifier is not None:
            yield identifier
    for answer in full.answers or ():
        yield answer.question_id
    for agreement in full.agreements or ():
        yield agreement.agreement_id


def _repeats_day(refused: Attempt) -> Refused:
    seen: set[int] = set()
    path = "$.trajectory"
    detail = "a day twice"
    entries: Sequence[Any] = (refused.full and refused.full.trajectory) or ()
    for position, entry in enumerate(entries):
        if entry.day in seen:
            path, detail = f"$.trajectory[{position}].day", f"day {entry.day} a second time"
            break
        seen.add(entry.day)
    fault = Fault("duplicate_day", path, detail, stage="contract")
    return Refused(refused.piece.document, fault, refused.piece.within, attempt_id(refused.identity.attempt_id))
