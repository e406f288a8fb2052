"""`reconciliation`: every figure that upstream recorded against the one that the rules compute.

Here: which figures are comparable and when they agree. Not here: any rule. A disagreement never changes a result.
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import to_contract
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet

FIGURE = [*KEY, "field"]
BOOLEAN_FIELDS = "^(eligible|verified|constraint:|objective:)"
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
    winners = in_order(attempts.select(*KEY, "uri", "has_evidence"))
    told = recorded_values.join(winners, on=KEY, how="left")
    own_record = (
        ~pl.col("has_evidence") & (pl.col("recorded_in") == pl.col("uri")) & (pl.col("field") != "reward")
    ).fill_null(value=False)
    unreadable = pl.col("value_type") == "unreadable"
    computed = pl.concat(
        [
            figures(predicate_results, verifications, assessment_scores, rewards),
            taken_over(told.filter(own_record)),
        ]
    )
    return (
        told.filter(~own_record | unreadable)
        .join(computed.with_columns(computed=True), on=FIGURE, how="left")
        .filter(pl.col("computed").is_not_null() | unreadable)
        .rename({"value": "recorded"})
        .with_columns(abs_diff=difference())
        .with_columns(agrees=~unreadable & agreement(rules))
        .with_columns(
            reason=pl.when(unreadable)
            .then(pl.lit("unreadable"))
            .when("agrees")
            .then(None)
            .when(pl.col("recorded").is_null())
            .then(pl.lit("not_recorded"))
            .when(pl.col("recomputed").is_null())
            .then(pl.lit("not_recomputed"))
            .otherwise(pl.lit("differs")),
            run_id=pl.lit(None, pl.String),
            rules=pl.lit(rules.id),
        )
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


def difference() -> pl.Expr:
    """|recorded - recomputed|, null where either is null or it overflows."""
    apart = (pl.col("recorded") - pl.col("recomputed")).abs()
    return pl.when(apart.is_finite()).then(apart)


def agreement(rules: RuleSet) -> pl.Expr:
    """Equal booleans agree, numbers where |recorded - recomputed| <= tolerance * max(1, |recomputed|), null with null.

    An attempt that is not verified has no eligibility: recorded false agrees with that as well.
    """
    recorded, recomputed, field = pl.col("recorded"), pl.col("recomputed"), pl.col("field")
    tolerance = (
        pl.when(field.str.contains(BOOLEAN_FIELDS))
        .then(0.0)
        .otherwise(rules.reconciliation.relative_tolerance * pl.max_horizontal(pl.lit(1.0), recomputed.abs()))
    )
    unverified = (field == "eligible") & recomputed.is_null() & (recorded == 0)
    return (
        (pl.col("abs_diff") <= tolerance).fill_null(value=False)
        | (recorded.is_null() & recomputed.is_null())
        | unverified.fill_null(value=False)
    )


def _named(family: str, id_: str) -> pl.Expr:
    return pl.format(f"{family}:{{}}", pl.col(id_))


def _figure(frame: pl.LazyFrame, field: pl.Expr, value: pl.Expr) -> pl.LazyFrame:
    return frame.select(*KEY, field=field, recomputed=value.cast(pl.Float64))
