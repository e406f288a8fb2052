"""The task contract of a worldseq artifact: read once, however many attempts carry it.

Here: the typed contract, its digest and its rows for `task_predicates` and `questions`, remembered by its bytes. Not
here: judging it; a contract that contradicts itself is still a contract.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from assets.attempts.contract import Questions, TaskPredicates
from assets.contract import Contract, schema
from assets.sources import json_text
from assets.sources.documents import Fault
from assets.sources.json_types import read
from assets.sources.scalars import is_identifier
from assets.sources.worldseq_types import AgreementReached, TaskContract

KEY = ("attempt_id", "landed_on")
EVIDENCE = ("truth", "action_state", "supported_conclusion", "factual_prefix_digest")

REMEMBERED = 1_024
LONGEST_REMEMBERED = 32 * 1024  # bytes; bounds the texts that are remembered to 32 MiB

Row = tuple[Any, ...]
Getter = Callable[[Any], Any]


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
        _PREDICATES.row(row, part, position, row.id, _kind(row))
        for part in ("constraints", "objectives")
        for position, row in enumerate(parts[part])
    ]
    questions = [
        _QUESTIONS.row(question, question.id, position, _kind(question), _required(question))
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


def _required(question: Any) -> bool:
    return question.requirement is not None and question.requirement.kind is not None


class _Table:
    """Makes rows of a table: first the columns that are given, then the fields that are columns by their own name."""

    def __init__(self, contract: type[Contract], elsewhere: Collection[str], *given: str) -> None:
        types = schema(contract)
        rest = [name for name in types if name not in {*KEY, *elsewhere, *given}]
        self.columns = {name: types[name] for name in (*given, *rest)}
        self._given = len(given)
        self._places: dict[type, list[tuple[int, Getter]]] = {}

    def row(self, source: msgspec.Struct, *given: Any) -> Row:
        """One row; a column that the source has no field for is null."""
        row = [*given, *(None,) * (len(self.columns) - self._given)]
        for index, value in self._places.get(type(source)) or self._places_of(type(source)):
            row[index] = value(source)
        return tuple(row)

    def _places_of(self, part: type[msgspec.Struct]) -> list[tuple[int, Getter]]:
        fields = {"agreement_status" if name == "status" else name: name for name in part.__struct_fields__}
        places: list[tuple[int, Getter]] = [
            (index, attrgetter(fields[column]))
            for index, column in enumerate(self.columns)
            if index >= self._given and column in fields
        ]
        self._places[part] = places
        return places


_PREDICATES = _Table(TaskPredicates, (), "part", "position", "predicate_id", "kind")
_QUESTIONS = _Table(Questions, EVIDENCE, "question_id", "position", "kind", "required")
PREDICATE_COLUMNS = _PREDICATES.columns
QUESTION_COLUMNS = _QUESTIONS.columns
