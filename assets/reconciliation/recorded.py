"""`reconciliation` of worldseq attempts: every figure that upstream recorded against the one that the rules compute.

Here: which figures are comparable. Not here: any rule, and when two figures agree (`comparison`).
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import to_contract
from assets.reconciliation.comparison import PLACE, UNREADABLE, compared
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet

FIGURE = [*KEY, "field"]
OF_EVIDENCE = {
    "eligible": "eligible",
    "verified": "verified",
    "primary_value": "primary_value",
    "net_assets_closing": "net_assets_closing_cents",
}
"""Recorded field to the column of `verifications` that recomputes it."""
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
    field = pl.col("field")
    told = recorded_values.filter(WORLDSEQ).join(winners, on=KEY, how="left")
    own_record = (~pl.col("has_evidence") & (pl.col("recorded_in") == pl.col("uri")) & (field != "reward")).fill_null(
        value=False
    )
    others = told.filter(~own_record | UNREADABLE)
    once = [pl.when(field == name).then(name) for name in (*OF_EVIDENCE, "reward")]
    return (
        others.join(once_an_attempt(verifications, rewards), on=KEY, how="left")
        .join(of_members(recorded_values, predicate_results, assessment_scores), on=FIGURE, how="left")
        .join(taken_over(told.filter(own_record)), on=FIGURE, how="left")
        .with_columns(found=pl.coalesce(*once, "of_member", "of_record"))
        .filter(pl.col("found").is_not_null() | UNREADABLE)
        .with_columns(recomputed=pl.col("found").struct.field("recomputed"))
        .pipe(compared, rules)
        .with_columns(run_id=pl.lit(None, pl.String), rules=pl.lit(rules.id))
        .sort(ROW, *PLACE)
        .pipe(to_contract, Reconciliation)
    )


def once_an_attempt(verifications: pl.LazyFrame, rewards: pl.LazyFrame) -> pl.LazyFrame:
    """By `KEY` the figures that an attempt has once, each in a column of the field's name."""
    recomputed = verifications.filter(pl.col("basis") == "recomputed")
    figures = {name: _figure(pl.col(column)) for name, column in OF_EVIDENCE.items()}
    rewarded = rewards.select(*KEY, reward=_figure(pl.col("reward")))
    return rewarded.join(recomputed.select(*KEY, **figures), on=KEY, how="full", coalesce=True)


def of_members(
    recorded_values: pl.LazyFrame, predicate_results: pl.LazyFrame, assessment_scores: pl.LazyFrame
) -> pl.LazyFrame:
    """By `FIGURE` that of each predicate and question of which one was recorded, as `of_member`.

    What nobody recorded, which is most of it, is left out before anything else is done with it.
    """
    field = pl.col("field")
    passed = pl.when(pl.col("outcome") == "pass").then(1.0).when(pl.col("outcome") == "fail").then(0.0)

    def asked(of: str, rows: pl.LazyFrame, id_: str) -> pl.LazyFrame:
        told = recorded_values.filter(field.str.starts_with(f"{of}:"))
        members = told.select(*KEY, field.str.strip_prefix(f"{of}:").alias(id_))
        return rows.join(members, on=[*KEY, id_], how="semi").with_columns(field=pl.format(f"{of}:{{}}", id_))

    objectives = predicate_results.filter(pl.col("kind") == "objective")
    constraints = predicate_results.filter(~pl.col("kind").is_in(NO_CONSTRAINT))
    # A declared constraint stands before an undeclared budget of the same id.
    declared = (
        asked("constraint", constraints, "predicate_id")
        .sort("position")
        .unique(FIGURE, keep="first", maintain_order=True)
    )
    figures = [
        (declared, passed),
        (asked("objective", objectives, "predicate_id"), passed),
        (asked("objective_worst", objectives, "predicate_id"), pl.col("worst_value")),
        (asked("score", assessment_scores, "question_id"), pl.col("score")),
        (asked("error", assessment_scores, "question_id"), pl.col("error")),
    ]
    return pl.concat([rows.select(*FIGURE, of_member=_figure(value)) for rows, value in figures])


def taken_over(own_record: pl.LazyFrame) -> pl.LazyFrame:
    """By `FIGURE` what an attempt without evidence has as its result, as `of_record`: its winner's own record.

    Of a figure that it recorded twice the greater value, so that no other document's figure is compared twice.
    """
    readable = own_record.filter(pl.col("value_type") != "unreadable").group_by(FIGURE).agg(pl.col("value").max())
    return readable.select(*FIGURE, of_record=_figure(pl.col("value")))


def _figure(value: pl.Expr) -> pl.Expr:
    """A recomputed figure, which may be null, in a struct, which is null where there is none; a boolean is 0 or 1."""
    return pl.struct(recomputed=value.cast(pl.Float64))
