"""Assets of the verification: `predicate_results` and `verifications`."""

import polars as pl

from assets.table_asset import Scope, results_asset
from assets.verification import predicates, trials, verdicts
from assets.verification.contract import PredicateResults, Verifications

EVIDENCE = ("attempts", "trajectory_days", "task_predicates", "agreements", "questions", "answers", "branches")


@results_asset(PredicateResults, group="verification", code_version="1", by_day=EVIDENCE)
def predicate_results(
    scope: Scope,
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    task_predicates: pl.LazyFrame,
    agreements: pl.LazyFrame,
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    branches: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every predicate of every completed attempt found."""
    evidence = (attempts, trajectory_days, task_predicates, agreements, questions, answers, branches)
    return predicates.predicate_results(*evidence, scope.rules)


def classes(rows: pl.DataFrame) -> dict[str, int]:
    """How many attempts are of each class, per rule set."""
    counts = rows.group_by("rules", "class").len().sort("rules", "class")
    return {f"class/{rules}/{class_}": count for rules, class_, count in counts.iter_rows()}


@results_asset(
    Verifications,
    figures=classes,
    group="verification",
    code_version="2",
    by_day=("attempts", "trajectory_days", "observations", "stage_values", "recorded_values"),
)
def verifications(
    scope: Scope,
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    observations: pl.LazyFrame,
    stage_values: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """The class of every attempt."""
    of_worldseq = (attempts, trajectory_days, predicate_results, recorded_values)
    of_trials = (attempts, observations, stage_values, recorded_values)
    return pl.concat([verdicts.verifications(*of_worldseq, scope.rules), trials.verifications(*of_trials, scope.rules)])
