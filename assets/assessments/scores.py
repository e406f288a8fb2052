"""`assessment_scores`: what each answer is worth, question by question."""

import polars as pl

from assets.assessments.answers import QUESTION, asked, branch_evidence, graded_answers
from assets.assessments.brier import group_brier, is_distribution
from assets.assessments.contract import AssessmentScores
from assets.assessments.squared_error import squared_error
from assets.attempts.evidence import KEY, finite, is_registered, metric_value, negated, scored
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet


def assessment_scores(
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
    playing, kind = scored(attempts), pl.col("kind")
    questions_ = asked(playing, questions)
    answered = questions_.join(graded_answers(playing, questions_, answers), on=QUESTION, how="left")
    categorical, graded = kind == "categorical", pl.col("answer_status") == "graded"
    # Each question has at most one of these, so that one join brings them all.
    evidence = [
        group_brier(answered, rules),
        outcomes(asked(playing, questions.filter(kind == "forecast")), trajectory_days),
        branch_evidence(asked(playing, questions.filter(kind == "counterfactual")), branches).select(
            QUESTION, actual="effect"
        ),
    ]
    return (
        answered.join(pl.concat(evidence, how="diagonal"), on=QUESTION, how="left")
        .with_columns(actual=pl.when(is_registered()).then("actual"))
        .with_columns(error=pl.when(categorical).then("brier").otherwise(squared_error()))
        .with_columns(answer_status=answer_status(rules))
        .with_columns(error=pl.when(graded).then("error"))
        .with_columns(
            score=pl.when(categorical).then(1.0 - pl.col("error")).otherwise(negated(pl.col("error"))),
            error_kind=pl.when(categorical).then(pl.lit("groupBrier")).otherwise(pl.lit("normalizedSquaredError")),
            rules=pl.lit(rules.id),
            prediction=pl.when(~categorical).then(finite(pl.col("prediction"))),
            actual=finite(pl.col("actual")),
            scale=pl.when(~categorical).then(finite(pl.col("scale"))),
        )
        .sort(QUESTION)
        .pipe(to_contract, AssessmentScores)
    )


def outcomes(forecasts: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION` and `actual`: the trajectory's value of a forecast's metric on its outcome day."""
    wanted = forecasts.select(*KEY, QUESTION, "metric", day="outcome_on_day")
    return days.join(wanted, on=[*KEY, "day"]).select(QUESTION, actual=metric_value())


def answer_status(rules: RuleSet) -> pl.Expr:
    """The first that applies of the answer statuses; `error` is null without an outcome and infinite on overflow."""
    categorical, answered = pl.col("kind") == "categorical", pl.col("answered").fill_null(value=False)
    pending = pl.col("pending").fill_null(value=False)
    malformed = pl.when(categorical).then(~is_distribution(rules)).otherwise(~pl.col("prediction").is_finite())
    unavailable = pl.when(categorical).then(pl.col("truth").is_null()).otherwise(pl.col("actual").is_null())
    return (
        pl.when("contract_fault")
        .then(pl.lit("invalid_contract"))
        .when(~answered & pending)
        .then(pl.lit("pending"))
        .when(~answered)
        .then(pl.lit("missing"))
        .when(malformed.fill_null(value=True))
        .then(pl.lit("invalid"))
        .when(unavailable)
        .then(pl.lit("outcome_unavailable"))
        .when(~pl.col("error").is_finite())
        .then(pl.lit("invalid"))
        .otherwise(pl.lit("graded"))
    )
