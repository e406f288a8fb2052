"""The hierarchical bootstrap: means of resampled campaigns, in NumPy, level by level.

Here: drawing nodes and averaging what was drawn, reproducible to the bit. Not here: which nodes there are (`effects`),
and what the resampled means say (`intervals`).

A resampled mean is made of sums of doubles in an order that depends on the hierarchy alone, each divided by its number
of terms: it carries the rounding of plain double precision, a relative 1e-16 per addition, far below the noise of any
number of resamples. The published estimate does not come from here.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from assets.campaigns.contract import LEVELS
from assets.rulesets.loader import RuleSet

Integers = npt.NDArray[np.intp]
Doubles = npt.NDArray[np.float64]

DEPTHS = (*LEVELS, "attempt")
"""Every level by its depth below the campaign; an attempt is a pair."""
GENERATOR = np.random.PCG64DXSM
AT_ONCE = 16_000
"""Values held at a time: below 128 KiB they stay in a processor's cache, and in memory that an allocator keeps.

Part of the algorithm, for it orders the draws.
"""


class Level(NamedTuple):
    """The nodes of one level in key order: the mean effect, and the number of the first child.

    `rank` tells which of the distinct `sizes`, numbers of children, a node has. Attempts have no children, hence no
    sizes.
    """

    means: Doubles
    first: Integers
    sizes: Integers
    rank: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, means: Doubles, children: Sequence[int] = ()) -> Self:
        """From the mean effect and the number of children of each node."""
        counts = np.asarray(children, dtype=np.intp)
        sizes, rank = np.unique(counts, return_inverse=True)
        return cls(means, np.cumsum(counts) - counts, sizes, rank.astype(np.uint16))

    def by_size(self, nodes: Integers) -> list[tuple[int, Integers]]:
        """Numbers of children, and the places in `nodes` of some that have so many: not too many children at a time."""
        rank = self.rank[nodes]
        ends = np.cumsum(np.bincount(rank, minlength=self.sizes.size))[:-1]
        places = np.split(np.argsort(rank, kind="stable"), ends)
        return [
            (size, found[start : start + step])
            for size, found in zip(self.sizes.tolist(), places, strict=True)
            for step in (max(1, AT_ONCE // size),)
            for start in range(0, found.size, step)
        ]


def hierarchy(nodes: Sequence[pl.DataFrame], effects: pl.Series, unit: float = 1.0) -> tuple[Level, ...]:
    """The levels by depth, from the nodes of each and the effects of the pairs in key order, none of them null.

    Means are in units of `unit`, a power of two.
    """
    inner = (Level.of(frame["effect"].to_numpy() / unit, frame["children"].to_list()) for frame in nodes)
    return (*inner, Level.of(effects.to_numpy() / unit))


def seed(campaign_id: str, metric: str, rules: RuleSet) -> str:
    """The seed of a comparison, hex: the same for the same campaign, metric and rules wherever and whenever it runs."""
    return hashlib.sha256(json.dumps([campaign_id, metric, rules.digest]).encode()).hexdigest()


def algorithm(rules: RuleSet) -> str:
    """What is resampled, and by which generator."""
    drawn = ">".join(level for level in DEPTHS if level in rules.campaign.resampled_levels) or "nothing"
    return f"hierarchical-bootstrap/1 {drawn} percentile {GENERATOR.__name__}"


def resampled_means(levels: Sequence[Level], rules: RuleSet, seed: str) -> Doubles:
    """The mean effects of `resamples` resampled campaigns.

    Of each drawn parent, and each time anew, as many children as it has are drawn with replacement where their level is
    one of the rule set's `resampled_levels`; all of them are taken where it is not.
    """
    generator = np.random.Generator(GENERATOR(int(seed, 16)))
    drawing = _Drawing(levels, rules.campaign.resampled_levels, generator)
    # A campaign draws on average as many nodes of a level as there are. Those of the deepest are never held together.
    step = max(1, AT_ONCE // levels[drawing.deepest - 1].means.size)
    resamples = rules.campaign.resamples
    parts = (min(step, resamples - done) for done in range(0, resamples, step))
    return np.concatenate([drawing.means(0, np.zeros(size, np.intp)) for size in parts])


class _Drawing:
    def __init__(self, levels: Sequence[Level], resampled: Collection[str], generator: np.random.Generator) -> None:
        self.levels = levels
        self.generator = generator
        self.drawn = {depth for depth, level in enumerate(DEPTHS) if level in resampled}
        self.deepest = max(self.drawn, default=1)

    def means(self, depth: int, nodes: Integers) -> Doubles:
        """A resampled mean of each of the nodes; one that is there several times has draws of its own each time."""
        groups = self.levels[depth].by_size(nodes)
        children = (self.children(depth, nodes[places], size) for size, places in groups)
        means = np.empty(nodes.size)
        for (size, places), values in zip(groups, self.values(depth + 1, children), strict=True):
            means[places] = values.sum(axis=0) / size
        return means

    def children(self, depth: int, parents: Integers, size: int) -> Integers:
        """A column of children for each of the parents, which have `size` of them."""
        first = self.levels[depth].first[parents]
        if depth + 1 not in self.drawn:
            return np.arange(size)[:, None] + first
        found = self.generator.integers(size, size=(size, parents.size))
        found += first
        return found

    def values(self, depth: int, blocks: Iterable[Integers]) -> Iterator[Doubles]:
        """A mean of each node of each block: the fixed one where nothing below is resampled."""
        if depth == self.deepest:
            return map(self.levels[depth].means.take, blocks)
        held = list(blocks)
        means = self.means(depth, np.concatenate([block.ravel() for block in held]))
        parts = np.split(means, np.cumsum([block.size for block in held])[:-1])
        return (part.reshape(block.shape) for part, block in zip(parts, held, strict=True))
