"""Attempts as read become the frames of the attempts layer, column by column over the whole batch.

Here: numbering, flattening, and the lenient reading of what a player wrote. Not here: reading documents.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from assets.attempts import contract as tables
from assets.contract import Contract, schema, table_name
from assets.sources.columns import from_rows, maps, series
from assets.sources.documents import CANDIDATES, SIDE_FILES, Decoded, Refused, quarantine
from assets.sources.pieces import Piece
from assets.sources.scalars import as_number
from assets.sources.worldseq_reading import Attempt, SideFile, Totals, attempt_id
from assets.sources.worldseq_task import PREDICATE_COLUMNS, QUESTION_COLUMNS, Row, Task
from assets.sources.worldseq_types import Answer, Branch, Evidence
from assets.vocabulary import BRANCHES

SOURCE = "worldseq"
Indices = npt.NDArray[np.int64]


class Days(NamedTuple):
    """Trajectory entries as columns, and whose each is: the attempt's position in the batch."""

    owner: Indices
    frame: pl.DataFrame


class Batch(NamedTuple):
    """What the documents of a batch were read as; the days of each chunk's attempts, in order."""

    attempts: list[Attempt]
    days: list[Days]
    totals: list[Totals]
    side_files: list[SideFile]
    refused: list[Refused]


def trajectory(attempts: Sequence[Attempt], start: int) -> Days:
    """The days of the attempts, the first of which is the batch's `start`."""
    columns = schema(tables.TrajectoryDays)
    trajectories = [(one.full and one.full.trajectory) or () for one in attempts]
    entries = list(chain.from_iterable(trajectories))
    metrics = ("day", *tables.DAY_METRICS.values())
    return Days(
        np.repeat(np.arange(start, start + len(attempts)), list(map(len, trajectories))),
        pl.DataFrame(
            [*(series(name, map(attrgetter(name), entries), columns[name]) for name in metrics), _prices(entries)]
        ),
    )


def repeating(days: Days) -> set[int]:
    """The owners that have a day twice."""
    keys = days.owner * (tables.MAX_DAY + 1) + days.frame["day"].to_numpy()
    if (keys[1:] > keys[:-1]).all():
        return set()
    keys.sort()
    return set((keys[1:][keys[1:] == keys[:-1]] // (tables.MAX_DAY + 1)).tolist())


def decoded(batch: Batch, first: int) -> Decoded:
    """The frames of a batch; documents are numbered from `first`: attempts, then totals, then side files."""
    attempts, _, totals, side_files, refused = batch
    pieces = [one.piece for one in chain[Attempt | Totals | SideFile](attempts, totals, side_files)]
    owners = _owners(attempts, totals, side_files, pieces, first)
    figures = [one.recorded.figures for one in attempts]
    figures += [one.figures for one in chain[Totals | SideFile](totals, side_files)]
    candidates = owners.head(len(attempts) + len(totals))
    beside = owners.tail(len(side_files))
    frames = {
        tables.Attempts: _attempts(attempts, owners),
        tables.TrajectoryDays: _trajectory(attempts, batch.days, owners),
        tables.TaskPredicates: _predicates(attempts, owners),
        tables.Agreements: _agreements(attempts, owners),
        tables.Questions: _questions(attempts, owners),
        tables.Answers: _answers(attempts, owners),
        tables.Branches: _branches(attempts, owners),
        tables.RecordedValues: _recorded(figures, owners),
    }
    return Decoded(
        {table_name(contract): _as(contract, frame) for contract, frame in frames.items()},
        candidates.select(*CANDIDATES),
        beside.with_columns(directory=pl.col("uri").str.replace(r"/[^/]*$", "")).select(*SIDE_FILES),
        quarantine(refused),
        first + len(pieces),
    )


def _as(contract: type[Contract], frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select("document", *schema(contract))


def _owners(
    attempts: Sequence[Attempt],
    totals: Sequence[Totals],
    side_files: Sequence[SideFile],
    pieces: Sequence[Piece],
    first: int,
) -> pl.DataFrame:
    """One row per document: all that identifies it."""
    others = len(totals) + len(side_files)
    documents = [piece.document for piece in pieces]
    digests = [one.digest for one in attempts]
    digests += [one.piece.digest() for one in chain[Totals | SideFile](totals, side_files)]
    return pl.DataFrame(
        {
            "document": np.arange(first, first + len(pieces)),
            "attempt_id": [attempt_id(one.identity.attempt_id) for one in attempts] + [None] * others,
            "landed_on": [document.landed_on for document in documents],
            "shape": [one.shape for one in attempts] + ["summary"] * len(totals) + ["harbor"] * len(side_files),
            "finalized_at": [one.finalized.microseconds for one in attempts] + [None] * others,
            "last_modified": [document.last_modified for document in documents],
            "uri": [document.uri for document in documents],
            "path": [piece.within for piece in pieces],
            "digest": digests,
            "sha256": [document.sha256 for document in documents],
        },
        schema={**{name: dtype for name, dtype in CANDIDATES.items() if name != "source"}, "finalized_at": pl.Int64()},
    ).with_columns(
        pl.col("finalized_at").cast(CANDIDATES["finalized_at"]),
        source=pl.lit(SOURCE),
    )


def _keys(owners: pl.DataFrame, owner: Sequence[int] | Indices) -> pl.DataFrame:
    return owners.select("document", "attempt_id", "landed_on").select(pl.all().gather(owner))


def _attempts(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    columns = schema(tables.Attempts)
    identities = [one.identity for one in attempts]
    agents = [identity.agent for identity in identities]
    failures = [identity.failure for identity in identities]
    contracts = [one.task and one.task.contract for one in attempts]
    usages = [one.full and one.full.usage for one in attempts]
    kinds = [one.task.kinds if one.task else {} for one in attempts]
    values: dict[str, Iterable[Any]] = {
        **{
            name: map(attrgetter(name), identities)
            for name in ("campaign_id", "arm_id", "family_id", "company_id", "task_id", "scenario_id", "repeat")
        },
        "agent_name": [agent and agent.name for agent in agents],
        "agent_version": [agent and agent.version for agent in agents],
        "model_name": [agent and agent.model for agent in agents],
        "outcome": [one.outcome for one in attempts],
        "failure_kind": [failure and failure.kind for failure in failures],
        "failure_message": [failure and failure.message for failure in failures],
        "started_at_text": [one.started.text for one in attempts],
        "finished_at_text": [one.finished.text for one in attempts],
        "finalized_at_text": [one.finalized.text for one in attempts],
        "primary_metric": [
            contract.primary_metric if contract else one.recorded.primary_metric
            for one, contract in zip(attempts, contracts, strict=True)
        ],
        "horizon_days": [contract and contract.horizon_days for contract in contracts],
        "case_digest": [one.task and one.task.digest for one in attempts],
        **{
            name: [None if usage is None else get(usage) for usage in usages]
            for name in ("accepted_decisions", "player_calls", "elapsed_seconds", "reported_tokens", "token_budget")
            for get in (attrgetter(name),)
        },
        "finalization_status": [one.finalization for one in attempts],
        "has_evidence": [one.task is not None for one in attempts],
        "recorded_verified": [one.recorded.verified for one in attempts],
        "recorded_eligible": [one.recorded.eligible for one in attempts],
        "recorded_primary_value": [one.recorded.primary_value for one in attempts],
        "unknown_answers": [
            sum(answer.question_id not in known for answer in one.full.answers) if one.full and one.full.answers else 0
            for one, known in zip(attempts, kinds, strict=True)
        ],
        "unknown_evidence": [
            sum(question not in known for question in one.full.evidence) if one.full and one.full.evidence else 0
            for one, known in zip(attempts, kinds, strict=True)
        ],
    }
    times = {
        "started_at": [one.started.microseconds for one in attempts],
        "finished_at": [one.finished.microseconds for one in attempts],
    }
    return owners.head(len(attempts)).with_columns(
        *(series(name, column, columns[name]) for name, column in values.items()),
        *(series(name, column, pl.Int64()).cast(columns[name]) for name, column in times.items()),
        vanished=pl.lit(value=False),
        identical_copies=pl.lit(0, pl.Int64()),
    )


def _trajectory(attempts: Sequence[Attempt], days: Sequence[Days], owners: pl.DataFrame) -> pl.DataFrame:
    """The days up to each attempt's horizon; those beyond it have been checked, and are left out."""
    owner = np.concatenate([part.owner for part in days])
    frame = pl.concat([part.frame for part in days])
    horizons = np.array([one.task.contract.horizon_days if one.task else tables.MAX_DAY for one in attempts], np.int64)
    within = frame["day"].to_numpy() <= horizons[owner]
    if not within.all():
        owner, frame = owner[within], frame.filter(pl.Series(within))
    return pl.concat([_keys(owners, owner), frame], how="horizontal")


def _prices(entries: Sequence[Any]) -> pl.Series:
    return maps("prices", list(map(attrgetter("prices"), entries)), {"product": pl.String(), "cents": pl.Int64()})


def _expanded(
    attempts: Sequence[Attempt],
    rows_of: Callable[[Task], list[Row]],
    columns: dict[str, pl.DataType],
    owners: pl.DataFrame,
) -> pl.DataFrame:
    """The rows of each attempt's task: made once per task, gathered per attempt."""
    rows: list[Row] = []
    places: dict[int, range] = {}
    having = [(owner, one.task) for owner, one in enumerate(attempts) if one.task]
    for _, task in having:
        if id(task) not in places:
            own = rows_of(task)
            places[id(task)] = range(len(rows), len(rows) + len(own))
            rows += own
    keys = _keys(owners, [owner for owner, task in having for _ in places[id(task)]])
    gathered = list(chain.from_iterable(places[id(task)] for _, task in having))
    return pl.concat([keys, from_rows(rows, columns).select(pl.all().gather(gathered))], how="horizontal")


def _predicates(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    return _expanded(attempts, attrgetter("predicates"), PREDICATE_COLUMNS, owners)


def _agreements(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    found = [
        (index, position, agreement)
        for index, one in enumerate(attempts)
        if one.full and one.full.agreements
        for position, agreement in enumerate(one.full.agreements)
    ]
    columns = schema(tables.Agreements)
    return _keys(owners, [index for index, _, _ in found]).with_columns(
        series("position", (position for _, position, _ in found), columns["position"]),
        *(
            series(name, (get(agreement) for _, _, agreement in found), columns[name])
            for name in ("agreement_id", "status", "on_day")
            for get in (attrgetter(name),)
        ),
    )


def _questions(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    columns = schema(tables.Questions)
    evidence = [
        (kind, one.full.evidence.get(question) if one.full and one.full.evidence else None)
        for one in attempts
        if one.task
        for question, kind in one.task.kinds.items()
    ]
    truths = [row and row.truth if kind == "categorical" else None for kind, row in evidence]
    facts = [row if kind == "counterfactual" else None for kind, row in evidence]
    return _expanded(attempts, attrgetter("questions"), QUESTION_COLUMNS, owners).with_columns(
        series("truth", truths, columns["truth"]),
        series("action_state", [row and row.one_shot_action for row in facts], columns["action_state"]),
        series(
            "supported_conclusion", [row and row.supported_conclusion for row in facts], columns["supported_conclusion"]
        ),
        series(
            "factual_prefix_digest",
            [row and row.factual_prefix_digest for row in facts],
            columns["factual_prefix_digest"],
        ),
    )


def _answers(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    columns = schema(tables.Answers)
    owner: list[int] = []
    positions: list[int] = []
    answers: list[Answer] = []
    for index, one in enumerate(attempts):
        if one.task and one.full and one.full.answers:
            for position, answer in enumerate(one.full.answers):
                if answer.question_id in one.task.kinds:
                    owner.append(index)
                    positions.append(position)
                    answers.append(answer)
    return _keys(owners, owner).with_columns(
        series("position", positions, columns["position"]),
        *(
            series(name, map(attrgetter(name), answers), columns[name])
            for name in ("question_id", "sequence", "submitted_on_day", "status")
        ),
        maps(
            "probabilities",
            [_probabilities(answer.probabilities) for answer in answers],
            {"candidate": pl.String(), "probability": pl.Float64()},
        ),
        series("prediction", [as_number(answer.prediction) for answer in answers], columns["prediction"]),
        series("conclusion", [_strings(answer.conclusion) for answer in answers], columns["conclusion"]),
        series("unresolved", [_flag(answer.unresolved) for answer in answers], columns["unresolved"]),
    )


def _probabilities(value: Any) -> dict[str, float] | None:
    if not isinstance(value, dict):
        return None
    numbers = {candidate: as_number(probability) for candidate, probability in value.items()}
    return None if None in numbers.values() else numbers  # type: ignore[return-value]  # no null is left


def _strings(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(member, str) for member in value) else None


def _flag(value: Any) -> bool | None:
    return False if value is None else value if isinstance(value, bool) else None


def _branches(attempts: Sequence[Attempt], owners: pl.DataFrame) -> pl.DataFrame:
    columns = schema(tables.Branches)
    found = [
        (index, question, name, branch)
        for index, one in enumerate(attempts)
        if one.task and one.full and one.full.evidence
        for question, evidence in one.full.evidence.items()
        if evidence and one.task.kinds.get(question) == "counterfactual"
        for name in BRANCHES
        if (branch := _branch(evidence, name))
    ]
    branches = [branch for *_, branch in found]
    return _keys(owners, [index for index, *_ in found]).with_columns(
        series("question_id", (question for _, question, _, _ in found), columns["question_id"]),
        series("branch", (name for _, _, name, _ in found), columns["branch"]),
        *(
            series(name, map(attrgetter(name), branches), columns[name])
            for name in ("verified", "prefix_digest", "exogenous_digest")
        ),
        maps(
            "day_values",
            [
                None
                if branch.values is None
                else {day: value for day, value in branch.values.items() if value is not None}
                for branch in branches
            ],
            {"day": pl.Int64(), "value": pl.Float64()},
        ),
    )


def _branch(evidence: Evidence, name: str) -> Branch | None:
    return evidence.baseline if name == "baseline" else evidence.intervention


def _recorded(figures: Sequence[Sequence[Any]], owners: pl.DataFrame) -> pl.DataFrame:
    columns = schema(tables.RecordedValues)
    names = ("field", "value", "value_type", "text")
    owner = np.repeat(np.arange(len(figures)), np.fromiter(map(len, figures), np.int64, len(figures)))
    rows = from_rows(list(chain.from_iterable(figures)), {name: columns[name] for name in names})
    keys = owners.select(
        "document",
        "attempt_id",
        pl.lit(None, pl.String).alias("run_id"),
        "source",
        "landed_on",
        pl.col("uri").alias("recorded_in"),
        "shape",
    )
    return pl.concat([keys[owner], rows], how="horizontal")
