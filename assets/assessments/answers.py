"""The answer that counts for each question, shared by the numeric scores and the required conclusions.

Here: numbering questions, choosing the graded answer, faults of a question's own contract, and the soundness of
counterfactual branches. Not here: what an answer is worth.
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, is_registered, numbered
from assets.vocabulary import BRANCHES

QUESTION = "question"
"""Number of a question: attempts and positions in order."""

ANSWER = ("probabilities", "prediction", "conclusion", "unresolved")


def asked(attempts: pl.LazyFrame, questions: pl.LazyFrame) -> pl.LazyFrame:
    """The questions of the given attempts, each with its number and whether its own contract is at fault."""
    return numbered(questions, QUESTION, attempts).with_columns(contract_fault=contract_fault())


def graded_answers(attempts: pl.LazyFrame, asked: pl.LazyFrame, answers: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION`, `answered`, `pending` and the fields of the latest accepted answer of every question with an answer.

    Only answers that were submitted strictly before the due day count. Order: day, sequence with null first, position
    in the list. Earlier answers are never searched for a better score.
    """
    given = numbered(answers, "answer", attempts)
    order = pl.struct("submitted_on_day", "sequence", "answer")  # in a struct, null is the least value
    accepted = pl.when(pl.col("status") == "accepted")
    latest = (
        given.join(asked.select(ROW, "question_id", QUESTION, "due_on_day"), on=[ROW, "question_id"])
        .filter(pl.col("submitted_on_day") < pl.col("due_on_day"))
        .group_by(QUESTION)
        .agg(
            answer=accepted.then("answer").max_by(accepted.then(order)),
            pending=(pl.col("status") == "pending").any(),
        )
    )
    return latest.join(given.select("answer", *ANSWER), on="answer", how="left").with_columns(
        answered=pl.col("answer").is_not_null()
    )


def contract_fault() -> pl.Expr:
    """Whether a question cannot be graded, whatever anyone answers.

    Categorical: candidates that are not unique, groups that are empty or do not partition them exactly, a truth that is
    no candidate. The others: a scale that is not finite and positive, an unregistered metric. A counterfactual also:
    no checkpoint, or an empty supported conclusion where a conclusion is required.
    """
    candidates, groups, truth = pl.col("candidates"), pl.col("equivalence_groups"), pl.col("truth")
    members = groups.list.eval(pl.element().explode(empty_as_null=False, keep_nulls=False))
    categorical = (
        candidates.is_null()
        | groups.is_null()
        | (candidates.list.n_unique() != candidates.list.len())
        | (groups.list.len() == 0)
        | groups.list.eval(pl.element().list.len() == 0).list.any()
        | (members.list.len() != candidates.list.len())
        | ~same_set(members, candidates)
        | (truth.is_not_null() & ~candidates.list.contains(truth))
    )
    scale = pl.col("scale")
    numeric = ~((scale.is_finite() & (scale > 0)).fill_null(value=False) & is_registered())
    counterfactual = pl.col("checkpoint_day").is_null() | (
        pl.col("required") & (pl.col("supported_conclusion").list.len() == 0).fill_null(value=False)
    )
    return (
        pl.when(pl.col("kind") == "categorical")
        .then(categorical)
        .when(pl.col("kind") == "forecast")
        .then(numeric)
        .otherwise(numeric | counterfactual)
    )


def same_set(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Whether two lists have the same members; null where either list is."""
    return one.list.set_symmetric_difference(other).list.len() == 0


def branch_evidence(counterfactuals: pl.LazyFrame, branches: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION`, `branch_fault` (a reason or null) and `effect` of the given counterfactuals.

    Sound are two branches that are verified, share the registered factual prefix and one exogenous realization, and
    have a value of the outcome day each; their effect is intervention - baseline.
    """
    wanted = counterfactuals.select(*KEY, "question_id", QUESTION, "outcome_on_day", "factual_prefix_digest")
    sides = branches.join(wanted, on=[*KEY, "question_id"])
    values = (
        sides.select(QUESTION, "branch", "outcome_on_day", "day_values")
        .explode("day_values")
        .filter(pl.col("day_values").struct.field("day") == pl.col("outcome_on_day"))
        .select(QUESTION, "branch", value=pl.col("day_values").struct.field("value"))
    )
    exogenous, value = pl.col("exogenous_digest"), pl.col("value")
    found = (
        sides.join(values, on=[QUESTION, "branch"], how="left")
        .group_by(QUESTION)
        .agg(
            complete=pl.col("branch").n_unique() == len(BRANCHES),
            verified=pl.col("verified").fill_null(value=False).all(),
            shared=(pl.col("prefix_digest") == pl.col("factual_prefix_digest")).fill_null(value=False).all()
            & exogenous.is_not_null().all()
            & (exogenous.n_unique() == 1),
            valued=value.is_not_null().all(),
            baseline=value.filter(pl.col("branch") == "baseline").max(),
            intervention=value.filter(pl.col("branch") == "intervention").max(),
        )
    )
    return (
        counterfactuals.select(QUESTION)
        .join(found, on=QUESTION, how="left")
        .select(
            QUESTION,
            branch_fault=pl.when(pl.col("complete").fill_null(value=False).not_())
            .then(pl.lit("branch_missing"))
            .when(~pl.col("verified"))
            .then(pl.lit("branch_unverified"))
            .when(~pl.col("shared"))
            .then(pl.lit("branch_mismatch"))
            .when(~pl.col("valued"))
            .then(pl.lit("branch_value_missing")),
            effect=pl.col("intervention") - pl.col("baseline"),
        )
        .with_columns(effect=pl.when(pl.col("branch_fault").is_null()).then("effect"))
    )
