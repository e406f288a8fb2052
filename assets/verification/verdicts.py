"""`verifications` of worldseq attempts: the class of each, the first that applies, and why it is not eligible.

Not here: trials and other benchmark attempts (`assets.verification.trials`).
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order, scored, signless_zero
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet
from assets.verification.contract import Verifications
from assets.verification.findings import reasons
from assets.verification.primary import primary_unit, primary_values


def verifications(
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per worldseq attempt, as `Verifications` declares it.

    A failed attempt is never scored. Of the others, finalization is the first gate; an evaluation summary has none by
    design. The verdict from evidence is a three-valued AND of the predicates and the primary value; without evidence it
    is the recorded one, with the predicates that it recorded as not satisfied.
    """
    attempts = attempts.filter(pl.col("source") == "worldseq")
    values = primary_values(scored(attempts), trajectory_days)
    recorded = recorded_figures(attempts, recorded_values)
    completed, verified = pl.col("outcome") == "completed", pl.col("class").is_in(["eligible", "ineligible"])
    return (
        in_order(attempts)
        .join(pl.concat([undecided(predicate_results), recorded], how="diagonal"), on=KEY, how="left")
        .join(values, on=KEY, how="left")
        .with_columns(
            pl.col("failed_predicates", "inconclusive_predicates").fill_null(pl.lit([], pl.List(pl.String))),
            net_assets_closing_cents=pl.coalesce("net_assets_closing_cents_right", "net_assets_closing_cents"),
            primary_value=pl.when("has_evidence")
            .then("primary_value")
            .otherwise(pl.when(completed).then(signless_zero(pl.col("recorded_primary_value")))),
            basis=pl.when(pl.col("shape") == "full").then(pl.lit("recomputed")).otherwise(pl.lit("recorded")),
        )
        .with_columns(class_and_reason().struct.unnest())
        .with_columns(
            verified=verified,
            eligible=pl.when(verified).then(pl.col("class") == "eligible"),
            primary_unit=primary_unit(rules),
            rules=pl.lit(rules.id),
        )
        .sort(ROW)
        .pipe(to_contract, Verifications)
    )


def undecided(predicate_results: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY` and the ids of the predicates that failed and that are inconclusive, each in their order."""
    outcome, id_ = pl.col("outcome"), pl.col("predicate_id")
    return (
        predicate_results.filter(outcome != "pass")
        .sort(*KEY, "position")
        .group_by(KEY)
        .agg(
            failed_predicates=id_.filter(outcome == "fail"),
            inconclusive_predicates=id_.filter(outcome == "inconclusive"),
        )
    )


def recorded_figures(attempts: pl.LazyFrame, recorded_values: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY` and what a completed attempt without evidence recorded of itself.

    Columns: `failed_predicates`, the ids recorded as not satisfied, in order of id, and `net_assets_closing_cents`.
    """
    field, value = pl.col("field"), pl.col("value")
    without = attempts.filter(pl.col("outcome") == "completed", ~pl.col("has_evidence"))
    own = recorded_values.join(without.select(*KEY, recorded_in="uri"), on=[*KEY, "recorded_in"])
    predicate = field.str.extract("^(?:constraint|objective):(?s)(.*)$", 1)
    return own.group_by(KEY).agg(
        failed_predicates=predicate.filter(predicate.is_not_null() & (value == 0)).unique().sort(),
        net_assets_closing_cents=value.filter(field == "net_assets_closing").first().cast(pl.Int64),
    )


def class_and_reason() -> pl.Expr:
    """Struct of `class` and `reason`: the first of the classes that applies."""
    failed = pl.when(pl.col("outcome") != "completed").then(
        classed(pl.col("outcome"), pl.coalesce("failure_kind", "outcome"))
    )
    unfinished = pl.when((pl.col("shape") != "summary") & pl.col("finalization_status").ne_missing("completed")).then(
        classed(pl.lit("inconclusive"), pl.lit("not_finalized"))
    )
    return pl.coalesce(failed, unfinished, pl.when("has_evidence").then(_recomputed()).otherwise(_recorded()))


def _recomputed() -> pl.Expr:
    failed = pl.col("failed_predicates").list.len() > 0
    undecided_ = reasons(
        (pl.col("primary_value").is_null(), "primary_value_unavailable"),
        (pl.col("inconclusive_predicates").list.len() > 0, "predicates_inconclusive"),
    )
    return (
        pl.when(failed)
        .then(classed(pl.lit("ineligible"), pl.lit("predicates_failed")))
        .when(undecided_.is_not_null())
        .then(classed(pl.lit("inconclusive"), undecided_))
        .otherwise(classed(pl.lit("eligible"), pl.lit(None, pl.String)))
    )


def _recorded() -> pl.Expr:
    verified, eligible = pl.col("recorded_verified").fill_null(value=False), pl.col("recorded_eligible")
    return (
        pl.when(verified & eligible)
        .then(classed(pl.lit("eligible"), pl.lit(None, pl.String)))
        .when(verified & ~eligible)
        .then(classed(pl.lit("ineligible"), pl.lit("recorded_ineligible")))
        .when(verified)
        .then(classed(pl.lit("inconclusive"), pl.lit("eligible_not_recorded")))
        .otherwise(classed(pl.lit("inconclusive"), pl.lit("recorded_unverified")))
    )


def classed(class_: pl.Expr, reason: pl.Expr) -> pl.Expr:
    """Struct of `class` and `reason`."""
    return pl.struct(class_.alias("class"), reason.alias("reason"))
