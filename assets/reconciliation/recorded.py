"""`reconciliation` of worldseq attempts: every figure that upstream recorded against the one that the rules compute.

Here: which figures are comparable. Not here: any rule, and when two figures agree (`comparison`).
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import to_contract
from assets.reconciliation.comparison import UNREADABLE, compared
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet

FIGURE = [*KEY, "field"]
WORLDSEQ = pl.col("source") == "worldseq"
NO_CONSTRAINT = ("objective", "required_conclusion", "execution_precondition")


def reconciliation(
    attempts: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    verifications: pl.LazyFrame,
    assessment_scores: pl.LazyFrame,
    rewards: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per recorded figure that is also computed, and per unreadable one, as `Reconciliation` declares it.

    Figures of documents that lost against the winner are compared with the winner's result as well. Without evidence
    the winner's own record is the result: compared are its reward and what other documents recorded.
    """
    winners = in_order(attempts.filter(WORLDSEQ).select(*KEY, "uri", "has_evidence"))
    told = recorded_values.filter(WORLDSEQ).join(winners, on=KEY, how="left")
    own_record = (
        ~pl.col("has_evidence") & (pl.col("recorded_in") == pl.col("uri")) & (pl.col("field") != "reward")
    ).fill_null(value=False)
    computed = pl.concat(
        [
            figures(predicate_results, verifications, assessment_scores, rewards),
            taken_over(told.filter(own_record)),
        ]
    )
    return (
        told.filter(~own_record | UNREADABLE)
        .join(computed.with_columns(computed=True), on=FIGURE, how="left")
        .filter(pl.col("computed").is_not_null() | UNREADABLE)
        .pipe(compared, rules)
        .with_columns(run_id=pl.lit(None, pl.String), rules=pl.lit(rules.id))
        .sort(ROW, "field", "recorded_in")
        .pipe(to_contract, Reconciliation)
    )


def figures(
    predicate_results: pl.LazyFrame, verifications: pl.LazyFrame, assessment_scores: pl.LazyFrame, rewards: pl.LazyFrame
) -> pl.LazyFrame:
    """Every computed figure in the long form of recorded values: `FIGURE` and `recomputed`; a boolean is 0 or 1."""
    passed = pl.when(pl.col("outcome") == "pass").then(1.0).when(pl.col("outcome") == "fail").then(0.0)
    objectives = predicate_results.filter(pl.col("kind") == "objective")
    # A declared constraint stands before an undeclared budget of the same id.
    constraints = predicate_results.filter(~pl.col("kind").is_in(NO_CONSTRAINT)).unique(
        [*KEY, "predicate_id"], keep="first", maintain_order=True
    )
    recomputed = verifications.filter(pl.col("basis") == "recomputed")
    return pl.concat(
        [
            _figure(recomputed, pl.lit("eligible"), pl.col("eligible")),
            _figure(recomputed, pl.lit("verified"), pl.col("verified")),
            _figure(recomputed, pl.lit("primary_value"), pl.col("primary_value")),
            _figure(recomputed, pl.lit("net_assets_closing"), pl.col("net_assets_closing_cents")),
            _figure(rewards, pl.lit("reward"), pl.col("reward")),
            _figure(constraints, _named("constraint", "predicate_id"), passed),
            _figure(objectives, _named("objective", "predicate_id"), passed),
            _figure(objectives, _named("objective_worst", "predicate_id"), pl.col("worst_value")),
            _figure(assessment_scores, _named("score", "question_id"), pl.col("score")),
            _figure(assessment_scores, _named("error", "question_id"), pl.col("error")),
        ]
    )


def taken_over(own_record: pl.LazyFrame) -> pl.LazyFrame:
    """`FIGURE` and `recomputed` of attempts without evidence: what the winning document recorded is the result.

    Of a figure that it recorded twice the greater value, so that no other document's figure is compared twice.
    """
    readable = own_record.filter(pl.col("value_type") != "unreadable")
    return readable.group_by(FIGURE).agg(recomputed=pl.col("value").max())


def _named(family: str, id_: str) -> pl.Expr:
    return pl.format(f"{family}:{{}}", pl.col(id_))


def _figure(frame: pl.LazyFrame, field: pl.Expr, value: pl.Expr) -> pl.LazyFrame:
    return frame.select(*KEY, field=field, recomputed=value.cast(pl.Float64))
