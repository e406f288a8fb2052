"""The task contract of a worldseq artifact: read once, however many attempts carry it.

Here: the typed contract, its digest and its rows for `task_predicates` and `questions`, remembered by its bytes. Not
here: judging it; a contract that contradicts itself is still a contract.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from assets.attempts.contract import Questions, TaskPredicates
from assets.contract import schema
from assets.sources import json_text
from assets.sources.documents import Fault
from assets.sources.json_types import read
from assets.sources.scalars import is_identifier
from assets.sources.worldseq_types import AgreementReached, TaskContract

KEY = ("attempt_id", "landed_on")
EVIDENCE = ("truth", "action_state", "supported_conclusion", "factual_prefix_digest")
PREDICATE_COLUMNS = {name: dtype for name, dtype in schema(TaskPredicates).items() if name not in KEY}
QUESTION_COLUMNS = {name: dtype for name, dtype in schema(Questions).items() if name not in {*KEY, *EVIDENCE}}

REMEMBERED = 2_048
LONGEST_REMEMBERED = 64 * 1024  # bytes; bounds what is remembered to 128 MiB

Row = tuple[Any, ...]


class Task(NamedTuple):
    """A task contract, its digest, and its rows: the two tables' columns but for the attempt and its evidence."""

    contract: TaskContract
    digest: str
    predicates: list[Row]
    questions: list[Row]
    kinds: dict[str, str]
    """Kind of each question, by its id, in order."""


def task_of(raw: bytes, max_depth: int) -> Task | Fault:
    """The task of these bytes, or what is wrong with it (paths from `$.task`)."""
    return _remembered(raw, max_depth) if len(raw) <= LONGEST_REMEMBERED else _task_of(raw, max_depth)


def read_task(value: Any) -> Task:
    """The task of a plain value.

    Raises:
        Fault: its first offence, from `$.task`.
    """
    try:
        return _task(read(TaskContract, value), value)
    except Fault as fault:
        fault.path = f"$.task{(fault.path or '$')[1:]}"
        raise


def _task_of(raw: bytes, max_depth: int) -> Task | Fault:
    try:
        contract = _CONTRACT.decode(raw)
        if not json_text.deeper_than(raw, max_depth) and all(map(is_identifier, _identifiers(contract))):
            return _task(contract, msgspec.json.decode(raw))
    except (msgspec.DecodeError, Fault):
        pass  # the careful reading below tells what is wrong, and reads what is merely unusual
    try:
        return read_task(json_text.parse(raw, max_depth))
    except Fault as fault:
        return fault


_CONTRACT = msgspec.json.Decoder(TaskContract)
_remembered = lru_cache(REMEMBERED)(_task_of)


def _identifiers(contract: TaskContract) -> Iterator[str]:
    for row in contract.constraints or ():
        yield row.id
        if isinstance(row, AgreementReached):
            yield row.agreement_id
    for objective in contract.objectives or ():
        yield objective.id
    for question in contract.questions or ():
        yield question.id


def _task(contract: TaskContract, value: Any) -> Task:
    parts: dict[str, Sequence[Any]] = {
        "constraints": contract.constraints or (),
        "objectives": contract.objectives or (),
        "questions": contract.questions or (),
    }
    for part, rows in parts.items():
        _check_unique(part, rows)
    predicates = [
        _row(row, PREDICATE_COLUMNS, part=part, position=position, predicate_id=row.id, kind=_kind(row))
        for part in ("constraints", "objectives")
        for position, row in enumerate(parts[part])
    ]
    questions = [
        _row(
            question,
            QUESTION_COLUMNS,
            question_id=question.id,
            position=position,
            kind=_kind(question),
            required=question.requirement is not None and question.requirement.kind is not None,
        )
        for position, question in enumerate(parts["questions"])
    ]
    kinds = {question.id: _kind(question) for question in parts["questions"]}
    digest = hashlib.sha256(json_text.canonical(value)).hexdigest()
    return Task(contract, digest, predicates, questions, kinds)


def _check_unique(part: str, rows: Sequence[Any]) -> None:
    seen = set()
    for position, row in enumerate(rows):
        if row.id in seen:
            raise Fault("duplicate_id", f"$.{part}[{position}].id", f"a second {row.id!r}", stage="contract")
        seen.add(row.id)


def _kind(row: Any) -> str:
    kind: str = row.__struct_config__.tag or getattr(row, "kind", "objective")
    return kind


def _row(source: msgspec.Struct, columns: dict[str, Any], /, **known: Any) -> Row:
    row = {**dict.fromkeys(columns), **known}
    for column, value in _columns_of(type(source), tuple(columns)):
        row[column] = value(source)
    return tuple(row.values())


@cache
def _columns_of(part: type[msgspec.Struct], columns: tuple[str, ...]) -> list[tuple[str, Callable[[Any], Any]]]:
    """The fields that are columns by their own name; an agreement's status is `agreement_status`."""
    names = {"status": "agreement_status"}
    return [
        (names.get(field, field), attrgetter(field))
        for field in part.__struct_fields__
        if names.get(field, field) in columns and field not in {"kind", "id"}
    ]
