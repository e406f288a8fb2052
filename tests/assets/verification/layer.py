"""Small attempts layers made by hand, and the result tables that the kernels make of them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from assets.assessments.contract import AssessmentScores
from assets.assessments.scores import assessment_scores
from assets.attempts.contract import PARTS
from assets.contract import conform, schema, table_name
from assets.reconciliation.contract import Reconciliation
from assets.reconciliation.recorded import reconciliation
from assets.rewards.contract import Rewards
from assets.rewards.harbor_utility import rewards
from assets.rulesets.loader import RuleSet, load_all
from assets.verification.contract import PredicateResults, Verifications
from assets.verification.predicates import predicate_results
from assets.verification.verdicts import verifications

Row = dict[str, Any]
Layer = dict[str, list[Row]]

V1 = load_all()["v1"]
DAY = dt.date(2026, 11, 29)
MODIFIED = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
COMPLETED = {
    "source": "worldseq",
    "uri": "store/a.json",
    "shape": "full",
    "outcome": "completed",
    "primary_metric": "net_cash",
    "horizon_days": 0,
    "accepted_decisions": 1,
    "player_calls": 1,
    "elapsed_seconds": 1.0,
    "finalization_status": "completed",
    "last_modified": MODIFIED,
    "has_evidence": True,
    "unknown_answers": 0,
    "unknown_evidence": 0,
    "identical_copies": 0,
}
DEFAULTS: Mapping[str, Row] = {
    "attempts": COMPLETED,
    "task_predicates": {"part": "constraints", "predicate_id": "p"},
    "questions": {"question_id": "q", "due_on_day": 10, "required": False},
    "answers": {"question_id": "q", "submitted_on_day": 1, "status": "accepted", "unresolved": False},
    "branches": {"question_id": "q", "verified": True, "prefix_digest": "p1", "exogenous_digest": "x1"},
    "recorded_values": {
        "source": "worldseq",
        "recorded_in": "store/a.json",
        "shape": "full",
        "value_type": "number",
    },
}
POSITIONED = {"task_predicates", "agreements", "questions", "answers"}


def days(first: int = 0, **metrics: Sequence[Any]) -> list[Row]:
    """Consecutive days from `first`, with the given values of each metric."""
    values = zip(*metrics.values(), strict=True)
    return [{"day": day, **dict(zip(metrics, row, strict=True))} for day, row in enumerate(values, start=first)]


def on_days(**by_day: Mapping[int, Any]) -> list[Row]:
    """The days that any metric has a value for; a metric without a value of a present day is null."""
    present = sorted(set().union(*by_day.values()))
    return [{"day": day, **{name: values.get(day) for name, values in by_day.items()}} for day in present]


def attempt(
    trajectory_days: Sequence[Row] = ({"day": 0, "cash_cents": 0},),
    *,
    attempt_id: str = "a",
    landed_on: dt.date = DAY,
    parts: Mapping[str, Sequence[Row]] | None = None,
    **columns: Any,
) -> Layer:
    """The rows of one attempt in every table: a completed and finalized one that no predicate speaks against."""
    rows = {"attempts": [columns], "trajectory_days": list(trajectory_days), **(parts or {})}
    key = {"attempt_id": attempt_id, "landed_on": landed_on}
    return {
        table: [
            key | ({"position": position} if table in POSITIONED else {}) | DEFAULTS.get(table, {}) | row
            for position, row in enumerate(given)
        ]
        for table, given in rows.items()
    }


def frames(*attempts: Layer) -> dict[str, pl.LazyFrame]:
    """Every table of the attempts layer, columns that a row lacks null."""
    tables = {}
    for contract in PARTS:
        name, columns = table_name(contract), schema(contract)
        rows = [row for one in attempts for row in one.get(name, [])]
        unknown = {column for row in rows for column in row} - set(columns)
        assert not unknown, f"{name} has no {unknown}"
        full = [{column: row.get(column) for column in columns} for row in rows]
        tables[name] = pl.DataFrame(full, schema=columns, strict=False).lazy()
    return tables


def predicates(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `predicate_results`, proven to fulfil its contract."""
    names = (
        "attempts",
        "trajectory_days",
        "task_predicates",
        "agreements",
        "questions",
        "answers",
        "branches",
    )
    rows = predicate_results(*(tables[name] for name in names), rules)
    return conform(PredicateResults, rows.collect(engine="streaming"))


def verdicts(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `verifications`, proven to fulfil its contract."""
    found = predicates(tables, rules).lazy()
    rows = verifications(tables["attempts"], tables["trajectory_days"], found, tables["recorded_values"], rules)
    return conform(Verifications, rows.collect(engine="streaming"))


def scores(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `assessment_scores`, proven to fulfil its contract."""
    names = ("attempts", "trajectory_days", "questions", "answers", "branches")
    rows = assessment_scores(*(tables[name] for name in names), rules)
    return conform(AssessmentScores, rows.collect(engine="streaming"))


def rewarded(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `rewards`, proven to fulfil its contract."""
    found = verdicts(tables, rules).lazy()
    rows = rewards(tables["attempts"], found, tables["recorded_values"], rules)
    return conform(Rewards, rows.collect(engine="streaming"))


def reconciled(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `reconciliation`, proven to fulfil its contract."""
    computed = (
        predicates(tables, rules).lazy(),
        verdicts(tables, rules).lazy(),
        scores(tables, rules).lazy(),
        rewarded(tables, rules).lazy(),
    )
    rows = reconciliation(tables["attempts"], tables["recorded_values"], *computed, rules)
    return conform(Reconciliation, rows.collect(engine="streaming"))


def found(row: Row, trajectory_days: Sequence[Row], **parts: Sequence[Row]) -> Row:
    """What the one declared predicate of an attempt finds, by column."""
    made = attempt(trajectory_days, horizon_days=10, parts={"task_predicates": [row], **parts})
    table = predicates(frames(made)).filter(pl.col("predicate_id") == "p")
    return table.row(0, named=True)
