"""`assessment_scores`: what each answer is worth, question by question."""

import polars as pl

from assets.assessments.answers import QUESTION, graded
from assets.assessments.brier import group_brier
from assets.assessments.contract import AssessmentScores
from assets.assessments.evidence import KEY, ROW, finite, is_registered, metric_value, of, scored
from assets.assessments.squared_error import squared_error
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet


def assessment_scores(  # noqa: PLR0913 - one argument per table that it reads
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    branches: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per question of a completed attempt with evidence, as `AssessmentScores` declares it.

    Only a graded answer has numbers in `score` and `error`. An error that overflows makes the answer `invalid`.
    """
    numbered = scored(attempts)
    asked = graded(numbered, questions, answers, branches)
    categorical = pl.col("kind") == "categorical"
    error = pl.when(categorical).then("brier").otherwise(squared_error())
    scoreless = pl.col("answer_status") != "graded"
    return (
        asked.join(group_brier(asked, rules), on=QUESTION, how="left")
        .join(outcomes(asked, of(numbered, trajectory_days)), on=QUESTION, how="left")
        .with_columns(actual=pl.when(is_registered()).then(pl.coalesce("outcome", "effect")))
        .with_columns(error=error)
        .with_columns(answer_status=answer_status())
        .with_columns(error=pl.when(~scoreless).then("error"))
        .with_columns(
            score=pl.when(categorical).then(1.0 - pl.col("error")).otherwise(0.0 - pl.col("error")),
            error_kind=pl.when(categorical).then(pl.lit("groupBrier")).otherwise(pl.lit("normalizedSquaredError")),
            rules=pl.lit(rules.id),
            prediction=pl.when(~categorical).then(finite(pl.col("prediction"))),
            actual=finite(pl.col("actual")),
            scale=pl.when(~categorical).then(finite(pl.col("scale"))),
        )
        .join(numbered.select(ROW, *KEY), on=ROW)
        .sort(QUESTION)
        .pipe(to_contract, AssessmentScores)
    )


def outcomes(asked: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION` and `outcome`: the trajectory's value of a forecast's metric on its outcome day."""
    wanted = asked.filter(pl.col("kind") == "forecast").select(ROW, QUESTION, "metric", day="outcome_on_day")
    return days.join(wanted, on=[ROW, "day"]).select(QUESTION, outcome=metric_value())


def answer_status() -> pl.Expr:
    """The first that applies of the answer statuses; `error` is null without an outcome and infinite on overflow."""
    categorical = pl.col("kind") == "categorical"
    malformed = pl.when(categorical).then(~pl.col("distribution")).otherwise(~pl.col("prediction").is_finite())
    unavailable = pl.when(categorical).then(pl.col("truth").is_null()).otherwise(pl.col("actual").is_null())
    return (
        pl.when("contract_fault")
        .then(pl.lit("invalid_contract"))
        .when(~pl.col("answered") & pl.col("pending"))
        .then(pl.lit("pending"))
        .when(~pl.col("answered"))
        .then(pl.lit("missing"))
        .when(malformed.fill_null(value=True))
        .then(pl.lit("invalid"))
        .when(unavailable)
        .then(pl.lit("outcome_unavailable"))
        .when(~pl.col("error").is_finite())
        .then(pl.lit("invalid"))
        .otherwise(pl.lit("graded"))
    )
