"""Asset of the assessments: `assessment_scores`."""

import dagster as dg
import polars as pl

from assets.assessments import scores
from assets.assessments.contract import AssessmentScores
from assets.table_asset import Ledger, per_rule_set, results_asset

EVIDENCE = ("attempts", "trajectory_days", "questions", "answers", "branches")


@results_asset(AssessmentScores, group="assessments", code_version="1", by_day=EVIDENCE)
def assessment_scores(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    branches: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every answer is worth."""
    evidence = (attempts, trajectory_days, questions, answers, branches)
    return per_rule_set(context, ledger, scores.assessment_scores, *evidence)
