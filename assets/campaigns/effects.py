"""`campaign_effects`: the mean effect at every node of a campaign's hierarchy.

Here: the nodes of each level, and means with equal weights within each parent. Not here: how far such a mean may be
from the truth (`bootstrap`, `intervals`).
"""

import math
from collections.abc import Iterable
from itertools import islice

import polars as pl

from assets.campaigns.contract import CASE, LEVELS, CampaignEffects
from assets.contract import schema

CAMPAIGN = ("campaign_id", "campaign_key", "rules")
SMALL = 2.0**-64
"""A part of a double so small that a sum of such parts does not overflow; a power of two leaves its digits alone."""


def effects(pairs: pl.DataFrame) -> pl.DataFrame:
    """The nodes of a campaign, as `CampaignEffects` declares them: the campaign, then level by level in key order."""
    found = pl.concat(
        [frame.with_columns(level=pl.lit(level)) for level, frame in zip(LEVELS, nodes(pairs), strict=True)],
        how="diagonal",
    )
    return found.select(pl.col(name).cast(dtype) for name, dtype in schema(CampaignEffects).items())


def nodes(pairs: pl.DataFrame) -> list[pl.DataFrame]:
    """Per level of `LEVELS` its nodes in key order: the key, `children`, `pairs` below, and the mean `effect`.

    A company belongs to its family, a task to its company, a scenario to its task: the same id elsewhere is another.
    The effect is null at every node unless every pair has one: no figure is made of a part of the inventory.
    """
    below = pairs.sort(CASE).select(*CAMPAIGN, *CASE, "effect", pairs=pl.lit(1, pl.Int64))
    found: list[pl.DataFrame] = []
    for depth in reversed(range(len(LEVELS))):
        level = below.group_by(*CAMPAIGN, *CASE[:depth], maintain_order=True).agg(
            pl.col("pairs").sum(), children=pl.len().cast(pl.Int64)
        )
        below = level.with_columns(_means(below["effect"], level["children"]))
        found.append(below)
    return found[::-1]


def _means(values: pl.Series, sizes: pl.Series) -> pl.Series:
    if values.null_count():
        return pl.repeat(None, sizes.len(), dtype=pl.Float64, eager=True).alias(values.name)
    remaining = iter(values.to_list())
    return pl.Series(values.name, [mean(islice(remaining, size)) for size in sizes], dtype=pl.Float64)


def mean(values: Iterable[float]) -> float:
    """The mean of some numbers: their exact sum, rounded once, divided by how many they are."""
    members = list(values)
    try:
        return math.fsum(members) / len(members)
    except OverflowError:
        return math.fsum(value * SMALL for value in members) / len(members) / SMALL
