"""`campaign_comparisons`: one campaign under one rule set, from its pairs to its verdict.

Here: putting together what the parts found, the counts that are always given, and the digest of the input. Not here:
any part itself.
"""

import hashlib
import json
import math
from typing import NamedTuple

import numpy as np
import polars as pl

from assets.campaigns.bootstrap import algorithm, seed
from assets.campaigns.contract import CASE, LEVELS, RESULTS, CampaignComparisons, CampaignPairs
from assets.campaigns.effects import effects, nodes
from assets.campaigns.intervals import Estimate, estimate
from assets.campaigns.pairs import SIDES, Paired
from assets.campaigns.registration import Registration
from assets.campaigns.verdict import INCOMPLETE_INVENTORY, concluded
from assets.contract import schema
from assets.rulesets.loader import RuleSet
from assets.vocabulary import CLASSES

CODE_VERSION = "1"
"""To be raised when a comparison of the same pairs comes out otherwise."""

COUNTS = dict(zip(LEVELS[1:], ("families", "companies", "tasks", "scenarios"), strict=True))
OUTCOMES = dict(zip(RESULTS, ("wins", "ties", "losses"), strict=True))
REGISTERED = (
    "campaign_id",
    "campaign_key",
    "title",
    "metric",
    "direction",
    "baseline_arm",
    "treatment_arm",
    "expectation",
    "tolerance",
    "registration_digest",
)
LINE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
FIGURES = ("effect", "ci_low", "ci_high", "t_low", "t_high", "std_error", "mde")


class Compared(NamedTuple):
    """The rows of a comparison's three tables, each as its contract declares it; of `comparison` there is one."""

    pairs: pl.DataFrame
    effects: pl.DataFrame
    comparison: pl.DataFrame


def comparison(registration: Registration, paired: Paired, rules: RuleSet) -> Compared:
    """The comparison of a campaign: numeric when every registered pair is and nothing refuses it.

    The same pairs give the same bytes, in whatever order they come.
    """
    pairs = paired.pairs.sort(CASE)
    levels = nodes(pairs)
    difference = pl.col("treatment_value") - pl.col("baseline_value")
    numeric_pairs = pairs.filter(difference.is_finite()).height
    without = [*paired.refusals, *([INCOMPLETE_INVENTORY] if numeric_pairs < pairs.height else [])]
    drawn = seed(registration.campaign_id, registration.metric, rules)
    found = None if without else estimate(levels, pairs["effect"], drawn, rules)
    counts = {COUNTS[level]: frame.height for level, frame in zip(LEVELS[1:], levels[1:], strict=True)}
    row = {
        **{name: getattr(registration, name) for name in REGISTERED},
        **concluded(registration, found, counts["companies"], without, rules)._asdict(),
        **figures(found),
        **counts,
        **{name: _count(pairs["result"], result) if found else None for result, name in OUTCOMES.items()},
        "pairs": pairs.height,
        "numeric_pairs": numeric_pairs,
        **{f"{side}_classes": {one: _count(pairs[f"{side}_class"], one) for one in CLASSES} for side in SIDES},
        "unregistered": paired.unregistered.height,
        "confidence": rules.campaign.confidence,
        "resamples": rules.campaign.resamples if found else None,
        "seed": drawn,
        "algorithm": algorithm(rules),
        "numpy_version": np.__version__,
        "input_digest": input_digest(pairs),
        "rules": rules.id,
        "rules_digest": rules.digest,
    }
    return Compared(pairs, effects(pairs), pl.DataFrame([row], schema=schema(CampaignComparisons)))


def figures(found: Estimate | None) -> dict[str, float | None]:
    """The columns of the estimate and its precision, none of them without an estimate; null where beyond a double."""
    if found is None:
        return dict.fromkeys(FIGURES)
    ends = (*found.interval, *(found.t_interval or (None, None)))
    values = (found.effect, *ends, found.std_error, found.mde)
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in zip(FIGURES, values, strict=True)
    }


def input_digest(pairs: pl.DataFrame) -> str:
    """SHA-256 of the pairs in key order: each row a line of JSON, its values in the order of `CampaignPairs`."""
    digest = hashlib.sha256()
    for row in pairs.select(list(schema(CampaignPairs))).sort(CASE).iter_rows():
        digest.update(f"{LINE.encode(row)}\n".encode())
    return digest.hexdigest()


def _count(values: pl.Series, value: str) -> int:
    return int((values == value).sum())
