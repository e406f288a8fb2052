"""`campaign_pairs`: both sides of every registered case, and the effect of each pair.

Here: which attempt stands on a side, its class and value, and why a comparison is refused. Not here: any mean
(`assets.campaigns.effects`). No case is ever left out: what is missing is a class, never a dropped row.
"""

from typing import NamedTuple

import polars as pl

from assets.attempts.contract import DAY_METRICS
from assets.attempts.evidence import finite, signless_zero
from assets.campaigns.contract import CASE, CampaignPairs
from assets.campaigns.registration import CLOSING, OBJECTIVE_SUCCESS, PRIMARY_VALUE, REWARD, Registration
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet
from assets.verification.findings import below, reasons

PAIR = "pair"
"""Number of a registered case, in key order."""
ATTEMPT = "attempt_id"
SIDES = ("baseline", "treatment")
SIDE = (ATTEMPT, "class", "value", "reason", "unit", "case_digest")
"""What is known of a side; in the pairs each column has the side's name before it."""

MIXED_UNITS, CONTRACT_MISMATCH = "mixed_units", "contract_mismatch"
DUPLICATE_CASE, NO_ARTIFACT, NOT_VERIFIED, NO_VALUE = "duplicate_case", "no_artifact", "not_verified", "no_value"
"""Why a side has no value, beside the reasons of the verdicts; not verified: not yet under these rules."""


class Paired(NamedTuple):
    """A campaign's cases with both sides.

    pairs: as `CampaignPairs` declares it, in key order; in a refused comparison without effects and results.
    unregistered: `attempt_id`, `arm_id` and the columns of `CASE` of the campaign's attempts that are in no pair, for
    they are outside of the inventory or of another arm, in order of id. refusals: why the comparison is refused.
    """

    pairs: pl.DataFrame
    unregistered: pl.DataFrame
    refusals: list[str]


def pairs(
    registration: Registration,
    attempts: pl.LazyFrame,
    verifications: pl.LazyFrame,
    rewards: pl.LazyFrame,
    assessment_scores: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    rules: RuleSet,
) -> Paired:
    """Every registered case with its two sides; of each table the current rows, one document per attempt.

    An attempt that lacks a part of its case, or its arm, is in no case. Two attempts for one arm and case are never
    chosen between.
    """
    cases = registration.cases().with_row_index(PAIR)
    arms = dict(zip(SIDES, (registration.baseline_arm, registration.treatment_arm), strict=True))
    placed = (
        attempts.filter(pl.col("campaign_id") == registration.campaign_id)
        .select(ATTEMPT, "arm_id", *CASE, "case_digest")
        .join(cases.lazy(), on=CASE, how="left")
        .with_columns(pl.when(pl.col("arm_id").is_in(list(arms.values()))).then(PAIR))
        .collect(engine="streaming")
    )
    registered = placed.filter(pl.col(PAIR).is_not_null())
    under, among = pl.col("rules") == rules.id, registered.lazy().select(ATTEMPT)
    results = (table.filter(under) for table in (verifications, rewards, assessment_scores))
    own = _Own(*(table.join(among, on=ATTEMPT, how="semi") for table in (*results, trajectory_days)))
    judged = _judged(registration, registered, own, rules)
    sided = cases
    for side, arm in arms.items():
        one = _side(judged.filter(pl.col("arm_id") == arm)).rename({name: f"{side}_{name}" for name in SIDE})
        sided = sided.join(one, on=PAIR, how="left", maintain_order="left")
    refusals = _refusals(sided)
    return Paired(
        sided.lazy().pipe(_compared, registration, rules, refused=bool(refusals)).collect(),
        placed.filter(pl.col(PAIR).is_null()).select(ATTEMPT, "arm_id", *CASE).sort(ATTEMPT),
        refusals,
    )


class _Own(NamedTuple):
    """The rows of the attempts of registered cases, under the rule set."""

    verifications: pl.LazyFrame
    rewards: pl.LazyFrame
    assessment_scores: pl.LazyFrame
    trajectory_days: pl.LazyFrame


def _numbers(registration: Registration, own: _Own, rules: RuleSet) -> pl.LazyFrame:
    """`attempt_id`, the `number` that the metric has of an attempt of whatever class, and its `unit`.

    The unit is that of which a campaign must not mix two: the primary metric, or the kind of error. A question counts
    by its score where higher is better, and by its error where lower is.
    """
    kind, about = registration.compared
    no_unit = pl.lit(None, pl.String)
    if kind == OBJECTIVE_SUCCESS:
        success = (pl.col("class") == "eligible").cast(pl.Float64)
        return own.verifications.select(ATTEMPT, number=success, unit=no_unit)
    if kind == PRIMARY_VALUE:
        return own.verifications.select(ATTEMPT, number="primary_value", unit="primary_metric")
    if kind == REWARD:
        rewards = own.rewards.filter(pl.col("reward_kind") == rules.reward.kind)
        return rewards.select(ATTEMPT, number="reward", unit=no_unit)
    if kind == CLOSING:
        closing = pl.col(DAY_METRICS[str(about)]).max_by("day").cast(pl.Float64)
        return own.trajectory_days.group_by(ATTEMPT).agg(number=closing).with_columns(unit=no_unit)
    scores = own.assessment_scores.filter(pl.col("question_id") == about)
    return scores.select(ATTEMPT, number="score" if registration.higher_is_better else "error", unit="error_kind")


def _judged(registration: Registration, registered: pl.DataFrame, own: _Own, rules: RuleSet) -> pl.DataFrame:
    """`PAIR`, `arm_id` and `SIDE` of the attempts of registered cases; a value only where the class has one."""
    valued = ["eligible", "ineligible"] if registration.compared.kind == OBJECTIVE_SUCCESS else ["eligible"]
    class_, no_value = pl.col("class"), pl.col("value").is_null()
    cases = ((class_.is_null(), NOT_VERIFIED), (class_ == "eligible", NO_VALUE))
    return (
        registered.lazy()
        .join(own.verifications.select(ATTEMPT, "class", verdict="reason"), on=ATTEMPT, how="left")
        .join(_numbers(registration, own, rules), on=ATTEMPT, how="left")
        .with_columns(value=pl.when(class_.is_in(valued)).then("number"))
        .with_columns(reason=pl.when(no_value).then(pl.coalesce(reasons(*cases), "verdict")))
        .with_columns(class_.fill_null("inconclusive"))
        .select(PAIR, "arm_id", *SIDE)
        .collect(engine="streaming")
    )


def _side(judged: pl.DataFrame) -> pl.DataFrame:
    """One row per case that the arm has attempts for: the attempt's, or that of a case with several."""
    several = judged.select(PAIR).filter(pl.col(PAIR).is_duplicated()).unique()
    return pl.concat(
        [
            judged.select(PAIR, *SIDE).unique(PAIR, keep="none"),
            several.with_columns(pl.lit("inconclusive").alias("class"), reason=pl.lit(DUPLICATE_CASE)),
        ],
        how="diagonal",
    )


def _refusals(sided: pl.DataFrame) -> list[str]:
    """Why no effect of these pairs means anything, each reason, in a fixed order."""
    valued = [sided.filter(pl.col(f"{side}_value").is_not_null())[f"{side}_unit"] for side in SIDES]
    digests = [sided[f"{side}_case_digest"] for side in SIDES]
    found = {
        MIXED_UNITS: pl.concat([one.rename("unit") for one in valued]).n_unique() > 1,
        CONTRACT_MISMATCH: bool((digests[0] != digests[1]).any()),
    }
    return [reason for reason, holds in found.items() if holds]


def _compared(sided: pl.LazyFrame, registration: Registration, rules: RuleSet, *, refused: bool) -> pl.LazyFrame:
    """The pairs as the table has them, a side without any attempt missing; an effect beyond a double is none."""
    baseline, treatment = (pl.col(f"{side}_value") for side in SIDES)
    gain = treatment - baseline if registration.higher_is_better else baseline - treatment
    named = {"campaign_id": registration.campaign_id, "campaign_key": registration.campaign_key}
    named |= {"rules": rules.id, "metric": registration.metric}
    return (
        sided.with_columns(effect=pl.lit(None, pl.Float64) if refused else signless_zero(finite(gain)))
        .with_columns(
            *(_unless_missing(side, "reason", NO_ARTIFACT) for side in SIDES),
            *(_unless_missing(side, "class", "missing") for side in SIDES),
            result=_result(registration.tolerance, rules.comparison.slack),
            **{name: pl.lit(value) for name, value in named.items()},
        )
        .pipe(to_contract, CampaignPairs)
    )


def _unless_missing(side: str, name: str, otherwise: str) -> pl.Expr:
    missing = pl.col(f"{side}_class").is_null()
    return pl.when(missing).then(pl.lit(otherwise)).otherwise(f"{side}_{name}").alias(f"{side}_{name}")


def _result(tolerance: float, slack: float) -> pl.Expr:
    """Win, tie or loss of the column `effect`; null without one."""
    effect, limit = pl.col("effect"), pl.lit(-tolerance)
    return (
        pl.when(below(-effect, limit, slack))
        .then(pl.lit("win"))
        .when(below(effect, limit, slack))
        .then(pl.lit("loss"))
        .when(effect.is_not_null())
        .then(pl.lit("tie"))
    )
