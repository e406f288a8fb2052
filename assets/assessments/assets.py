"""Asset of the assessments: `assessment_scores`."""

import polars as pl

from assets.assessments import scores
from assets.assessments.contract import AssessmentScores
from assets.table_asset import Scope, results_asset

EVIDENCE = ("attempts", "trajectory_days", "questions", "answers", "branches")


@results_asset(AssessmentScores, group="assessments", code_version="1", by_day=EVIDENCE)
def assessment_scores(
    scope: Scope,
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    branches: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every answer is worth."""
    evidence = (attempts, trajectory_days, questions, answers, branches)
    return scores.assessment_scores(*evidence, scope.rules)
