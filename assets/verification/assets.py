"""Assets of the verification: `predicate_results` and `verifications`."""

import dagster as dg
import polars as pl

from assets.table_asset import Ledger, per_rule_set, results_asset
from assets.verification import predicates, trials, verdicts
from assets.verification.contract import PredicateResults, Verifications

EVIDENCE = ("attempts", "trajectory_days", "task_predicates", "agreements", "questions", "answers", "branches")


@results_asset(PredicateResults, group="verification", code_version="1", by_day=EVIDENCE)
def predicate_results(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
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
    return per_rule_set(context, ledger, predicates.predicate_results, *evidence)


@results_asset(
    Verifications,
    group="verification",
    code_version="2",
    by_day=("attempts", "trajectory_days", "observations", "stage_values", "recorded_values"),
)
def verifications(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    observations: pl.LazyFrame,
    stage_values: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
) -> pl.DataFrame:
    """The class of every attempt."""
    of_worldseq = (attempts, trajectory_days, predicate_results, recorded_values)
    of_trials = (attempts, observations, stage_values, recorded_values)
    rows = pl.concat(
        [
            per_rule_set(context, ledger, verdicts.verifications, *of_worldseq),
            per_rule_set(context, ledger, trials.verifications, *of_trials),
        ]
    ).collect(engine="streaming")
    counts = rows.group_by("rules", "class").len().sort("rules", "class")
    context.add_output_metadata({f"class/{rules}/{class_}": count for rules, class_, count in counts.iter_rows()})
    return rows
