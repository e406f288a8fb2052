"""Reading of AgentForge documents: what one holds, or the exact place of its first offence.

Here: from bytes to a trial, a result or a pack, fast where nothing is to be said, else carefully. Not here: tables
(`agentforge`).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from assets.sources import json_text
from assets.sources.agentforge_types import (
    PACK_FORMAT,
    RESULT_FORMAT,
    TRIAL_FORMAT,
    WEIGHT_SUM_TOLERANCE,
    Pack,
    Result,
    Stage,
    Trial,
)
from assets.sources.documents import Fault, Refused
from assets.sources.json_types import read
from assets.sources.pieces import Piece
from assets.sources.scalars import Instant, instant, is_identifier

SOURCE = "agentforge"
_DECODERS = (msgspec.json.Decoder(Trial), msgspec.json.Decoder(Result))


class FoundTrial(NamedTuple):
    """A trial as one document tells it."""

    piece: Piece
    trial: Trial
    finished: Instant


class FoundResult(NamedTuple):
    """The result of a job as one document tells it."""

    piece: Piece
    result: Result


Reading = FoundTrial | FoundResult | Refused


def read_piece(piece: Piece, max_depth: int) -> Reading:
    """The trial or result that a piece holds, or why it holds none."""
    return _glance(piece, max_depth) or _read_carefully(piece, max_depth)


def _glance(piece: Piece, max_depth: int) -> Reading | None:
    """The fast path: a document that needs no second look; null for anything else, right or wrong."""
    content = piece.content
    # msgspec skips unknown fields without a look at their depth and encoding.
    if json_text.deeper_than(content, max_depth):
        return None
    for decoder in _DECODERS:
        try:
            body = decoder.decode(content)
            if not content.isascii():
                content.decode()
            return _found(piece, body) if all(map(is_identifier, _identifiers(body))) else None
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue
    return None


def _read_carefully(piece: Piece, max_depth: int) -> Reading:
    value = None
    try:
        value = json_text.parse(piece.content, max_depth)
        expected: dict[str, type[Trial | Result]] = {TRIAL_FORMAT: Trial, RESULT_FORMAT: Result}
        return _found(piece, read(expected[_format(value, *expected)], value))
    except Fault as fault:
        claimed = claimed_identifier(value, "trialId")
        return Refused(piece.document, fault, piece.within, claimed and attempt_id(claimed))


def _found(piece: Piece, body: Trial | Result) -> Reading:
    if isinstance(body, Result):
        return FoundResult(piece, body)
    return FoundTrial(piece, body, instant(body.finished_at))


def _identifiers(body: Trial | Result) -> Iterable[str]:
    yield body.job_id
    if isinstance(body, Trial):
        yield body.trial_id
        keys = (body.configuration.pack_key, body.configuration.scenario_key)
        yield from (key for key in keys if key is not None)


def _format(value: Any, *known: str) -> str:
    if not isinstance(value, dict):
        raise Fault("unknown_shape", "$", "not an object")
    form = value.get("format")
    if form is None:
        raise Fault("unknown_shape", "$", "without a format")
    if form not in known:
        raise Fault("unknown_shape", "$.format", f"an unknown format: {json_text.shown(form)}")
    return str(form)


def claimed_identifier(value: Any, field: str) -> str | None:
    """The identifier that a plain value names, where it is readable that far."""
    claimed = value.get(field) if isinstance(value, dict) else None
    return claimed if isinstance(claimed, str) and is_identifier(claimed) else None


def attempt_id(trial_id: str) -> str:
    """The trial's id across sources."""
    return f"{SOURCE}:{trial_id}"


def read_pack(value: Any) -> Pack:
    """The pack of a plain value.

    Raises:
        Fault: it is malformed, names a stage or a metric twice, or its hidden weights do not make 1.
    """
    _format(value, PACK_FORMAT)
    pack = read(Pack, value)
    ids: set[str] = set()
    keys: set[str] = set()
    for position, stage in enumerate(pack.stages):
        _check_stage(stage, f"$.stages[{position}]", ids, keys)
    total = 0.0
    for stage in pack.stages:
        total += stage.weight if stage.hidden else 0.0
    if not abs(total - 1.0) <= WEIGHT_SUM_TOLERANCE:
        raise Fault("weight_sum", "$.stages", f"the hidden weights sum to {total!r}, not 1", stage="contract")
    return pack


def _check_stage(stage: Stage, path: str, ids: set[str], keys: set[str]) -> None:
    if stage.id in ids:
        raise Fault("duplicate_id", f"{path}.id", f"a second {stage.id!r}", stage="contract")
    if stage.key() in keys:
        named = f"{path}.metricKey" if stage.metric_key else f"{path}.id"
        raise Fault("duplicate_metric_key", named, f"a second stage with {stage.key()!r}", stage="contract")
    if stage.hidden and stage.weight < 0:
        raise Fault("bad_weight", f"{path}.weight", f"a negative weight: {stage.weight!r}", stage="contract")
    ids.add(stage.id)
    keys.add(stage.key())
