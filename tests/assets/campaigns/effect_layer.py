"""Campaigns made of the effects of their cases alone, for what comes after the pairs."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from assets.campaigns.comparison import Compared, comparison
from assets.campaigns.contract import CASE, CampaignComparisons, CampaignEffects, CampaignPairs
from assets.campaigns.pairs import Paired
from assets.campaigns.registration import Registration
from assets.contract import conform, schema
from assets.rulesets.loader import RuleSet, load_all
from tests.reference.campaigns import Case

Effects = Mapping[Case, float]

V1 = load_all()["v1"]
SIX = {(family, company, "t", "s", 1): 1.0 for family in "ab" for company in "xyz"}
"""One case of each of as many companies as the first rules ask for."""


def rules(**campaign: Any) -> RuleSet:
    """The first rules with other constants of a campaign."""
    return msgspec.structs.replace(V1, campaign=msgspec.structs.replace(V1.campaign, **campaign))


QUICK = rules(resamples=400)


def registration(effects: Mapping[Case, Any], **changes: Any) -> Registration:
    declared = {
        "campaign_id": "cmp",
        "campaign_key": "cmp-0123abcd",
        "registration_digest": "d" * 64,
        "title": None,
        "metric": "objectiveSuccess",
        "direction": "higher_is_better",
        "baseline_arm": "old",
        "treatment_arm": "new",
        "expectation": "improvement",
        "tolerance": 0.0,
        "inventory": [dict(zip(CASE, case, strict=True)) for case in effects],
    }
    return Registration(**declared | changes)


def pairs(of: Registration, effects: Mapping[Case, float | None], *, refused: bool = False) -> pl.DataFrame:
    """The pairs of a registration in the order of the effects; a null one has no treatment."""
    named = {"campaign_id": of.campaign_id, "campaign_key": of.campaign_key, "rules": "v1", "metric": of.metric}
    rows = []
    for case, effect in effects.items():
        row = named | dict(zip(CASE, case, strict=True)) | {"baseline_attempt_id": f"old:{case}"}
        row |= {"baseline_class": "eligible", "baseline_value": 0.0, "treatment_class": "missing"}
        if effect is not None:
            row |= {"treatment_class": "eligible", "treatment_value": effect, "treatment_attempt_id": f"new:{case}"}
            if not refused:
                row |= {"effect": effect, "result": result(effect, of.tolerance)}
        rows.append(row)
    return conform(CampaignPairs, pl.DataFrame(rows, schema=schema(CampaignPairs)))


def result(effect: float, tolerance: float) -> str:
    return "win" if effect > tolerance else "loss" if effect < -tolerance else "tie"


def compare(
    effects: Mapping[Case, float | None], rule_set: RuleSet = QUICK, refusals: Sequence[str] = (), **changes: Any
) -> Compared:
    """The comparison of a campaign with these effects, its tables proven to be what they should."""
    of = registration(effects, **changes)
    nobody = pl.DataFrame(schema={"attempt_id": pl.String})
    compared = comparison(of, Paired(pairs(of, effects, refused=bool(refusals)), nobody, [*refusals]), rule_set)
    for contract, frame in zip((CampaignPairs, CampaignEffects, CampaignComparisons), compared, strict=True):
        conform(contract, frame)
    return compared


def row(effects: Mapping[Case, float | None], rule_set: RuleSet = QUICK, **changes: Any) -> dict[str, Any]:
    """The row of the comparison."""
    return compare(effects, rule_set, **changes).comparison.row(0, named=True)


def unbalanced(seed: int, *, families: int = 4, most: int = 4) -> dict[Case, float]:
    """Effects in a hierarchy where every node has another number of children, in a random order."""
    rng = random.Random(seed)
    cases: list[Case] = [
        (f"f{family}", f"c{company}", f"t{task}", f"s{scenario}", repeat)
        for family in range(rng.randint(1, families))
        for company in range(rng.randint(1, most))
        for task in range(rng.randint(1, most))
        for scenario in range(rng.randint(1, most))
        for repeat in range(1, rng.randint(1, most) + 1)
    ]
    rng.shuffle(cases)
    return {case: rng.choice((rng.gauss(0.3, 1), 0.0, 1.0, -1.0)) for case in cases}
