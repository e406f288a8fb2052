"""What a comparison is made of, as it stands now: registrations, and of each attempt the rows of its winning document.

Here: choosing rows, and which comparisons are stale. Not here: how a table is stored (its class) and any statistics.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from assets.assessments.contract import AssessmentScores
from assets.attempts.contract import Attempts, TrajectoryDays
from assets.attempts.evidence import KEY
from assets.attempts.precedence import across_days
from assets.campaigns.comparison import CODE_VERSION, input_digest
from assets.campaigns.contract import CampaignComparisons, CampaignRegistrations
from assets.campaigns.pairs import SIDES, Paired, pairs
from assets.campaigns.registration import Registration, newest
from assets.contract import Contract
from assets.fingerprint import fingerprint
from assets.landing.land import TableStore
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet
from assets.verification.contract import PredicateResults, Verifications

GONE = "no longer registered"


class Current(NamedTuple):
    """The attempts of some campaigns, one row each, and the rows of the results that belong to them."""

    attempts: pl.LazyFrame
    verifications: pl.LazyFrame
    rewards: pl.LazyFrame
    assessment_scores: pl.LazyFrame
    trajectory_days: pl.LazyFrame
    predicate_results: pl.LazyFrame


class Stale(NamedTuple):
    """A comparison that is not stored, or not of what is stored now; `digest` is of what it would be made of."""

    campaign_key: str
    rules: str
    digest: str


def registrations(tables: TableStore) -> dict[str, Registration]:
    """The registration that counts of every campaign, by campaign key, in order of campaign."""
    rows = newest(tables.scan(CampaignRegistrations)).collect(engine="streaming")
    return {row["campaign_key"]: Registration.of(row) for row in rows.iter_rows(named=True)}


def current(tables: TableStore, campaign_ids: Sequence[str], rules: RuleSet) -> Current:
    """The current rows of these campaigns' attempts under one rule set."""
    every = tables.scan(Attempts)
    # A record of an attempt may lack the campaign that its evidence names: all rows of an attempt are looked at.
    among = every.filter(pl.col("campaign_id").is_in(list(campaign_ids))).select("attempt_id")
    attempts = across_days(every.join(among.unique(), on="attempt_id", how="semi").collect(engine="streaming"))
    won = attempts.select(KEY)
    days = sorted(set(won["landed_on"]))

    def rows_of(contract: type[Contract], **key: str) -> pl.LazyFrame:
        held = tables.scan(contract, [{"landed_on": day, **key} for day in days] if days else None)
        return held.join(won.lazy(), on=KEY, how="semi")

    return Current(
        attempts.lazy(),
        rows_of(Verifications, rules=rules.id),
        rows_of(Rewards, rules=rules.id),
        rows_of(AssessmentScores, rules=rules.id),
        rows_of(TrajectoryDays),
        rows_of(PredicateResults, rules=rules.id),
    )


def paired(registration: Registration, rows: Current, rules: RuleSet) -> Paired:
    """The pairs of a campaign from its current rows."""
    return pairs(
        registration,
        rows.attempts,
        rows.verifications,
        rows.rewards,
        rows.assessment_scores,
        rows.trajectory_days,
        rules,
    )


def failed_predicates(registration: Registration, made: Paired, rows: Current) -> pl.DataFrame:
    """`arm`, `kind`, `predicate_id` and the number of `attempts` of the pairs that failed it, most first."""
    arms = (registration.baseline_arm, registration.treatment_arm)
    compared = pl.concat(
        [
            made.pairs.lazy().select(attempt_id=f"{side}_attempt_id", arm=pl.lit(arm))
            for side, arm in zip(SIDES, arms, strict=True)
        ]
    )
    return (
        rows.predicate_results.filter(pl.col("outcome") == "fail")
        .join(compared, on="attempt_id")
        .group_by("arm", "kind", "predicate_id")
        .agg(attempts=pl.col("attempt_id").n_unique().cast(pl.Int64))
        .sort("attempts", "arm", "kind", "predicate_id", descending=[True, False, False, False])
        .collect(engine="streaming")
    )


def reported(failed: pl.DataFrame, unregistered: pl.DataFrame) -> str:
    """A fingerprint of what a report tells that is not in the pairs."""
    return fingerprint([failed.rows(), unregistered.rows()])


def primary_unit(made: Paired, rows: Current) -> str | None:
    """The unit of the primary values of the pairs, where it is one."""
    ids = pl.concat([made.pairs[f"{side}_attempt_id"] for side in SIDES]).drop_nulls()
    units = rows.verifications.filter(pl.col("attempt_id").is_in(ids.implode())).select(
        pl.col("primary_unit").drop_nulls().unique()
    )
    found = units.collect(engine="streaming")["primary_unit"].to_list()
    return found[0] if len(found) == 1 else None


def stale(tables: TableStore, rule_sets: Iterable[RuleSet]) -> Iterator[Stale]:
    """The comparisons that have to be made: what is stored says so, not what ran.

    One of a campaign that is no longer registered has to be made too: it leaves no rows.
    """
    known = registrations(tables)
    ids = [registration.campaign_id for registration in known.values()]
    digests = ("registration_digest", "rules_digest", "input_digest")
    stored: Mapping[tuple[str, str], tuple[str, ...]] = {
        (row[0], row[1]): row[2:]
        for row in tables.scan(CampaignComparisons).select("campaign_key", "rules", *digests).collect().iter_rows()
    }
    noted = tables.provenance(CampaignComparisons)
    for rules in rule_sets:
        yield from (Stale(key, rules.id, GONE) for key, id_ in sorted(stored) if id_ == rules.id and key not in known)
        if not known:
            continue
        rows = current(tables, ids, rules)
        for key, registration in known.items():
            made = paired(registration, rows, rules)
            digest = input_digest(made.pairs)
            beside = reported(failed_predicates(registration, made, rows), made.unregistered)
            now = (registration.registration_digest, rules.digest, digest)
            held = noted.get((key, rules.id))
            same = held is not None and (held.code_version, held.inputs) == (CODE_VERSION, beside)
            if stored.get((key, rules.id)) != now or not same:
                yield Stale(key, rules.id, f"{digest}|{registration.registration_digest}|{beside}")
