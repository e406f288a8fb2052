"""Every source: where its artifacts are, which of them are read, and how they become tables.

Here: one entry per source, the one place to register another; a source that is not listed here is not landed. Not here:
any format (the sources' modules) and the flow (`assets.attempts.decoding`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from assets.attempts.precedence import PRECEDENCE, Criterion
from assets.landing.layout import READS, Pattern, pattern
from assets.sources import agentcompass, agentcompass_runs, agentforge, campaigns, harbor, terminal_bench, worldseq
from assets.sources.documents import Decoded, Document, Limits

Decoder = Callable[[Sequence[Document], Limits, int], Decoded]
Assembler = Callable[[Mapping[str, pl.DataFrame], int], Decoded]


class Source(NamedTuple):
    """One kind of artifact.

    decode: a batch of documents to frames, without a look at any other batch. layout: path pattern, by default its
    folder with one folder a day. reads: ends of the keys that are read. precedence: which of several documents about
    one attempt wins. parts: intermediate frames of `decode` by name, each with a column `document`; `assemble` joins
    those of all batches, and gives the free document numbers from its second argument on to what has none. companion: a
    source whose documents, of whatever day, are decoded with this one and join the parts: every version of another's,
    the current ones of its own. lands_with: the source that this one is landed with, on every day. encloses: the
    directory of an attempt's file is its own, and what lies deeper in it is no other's.
    """

    decode: Decoder
    layout: str | None = None
    reads: tuple[str, ...] = READS
    precedence: Sequence[Criterion] = PRECEDENCE
    parts: Mapping[str, Mapping[str, pl.DataType]] = {}
    assemble: Assembler | None = None
    companion: str | None = None
    lands_with: str | None = None
    encloses: bool = False


SOURCES: Mapping[str, Source] = {
    "worldseq": Source(worldseq.decode),
    "harbor": Source(
        harbor.decode,
        reads=harbor.READS,
        precedence=harbor.PRECEDENCE,
        parts=terminal_bench.PARTS,
        assemble=terminal_bench.assemble,
        encloses=True,
    ),
    "agentforge": Source(
        agentforge.decode,
        parts=agentforge.PARTS,
        assemble=agentforge.assemble,
        companion="agentforge-packs",
    ),
    "agentforge-packs": Source(
        agentforge.decode_packs, layout="agentforge-packs/", parts=agentforge.PACK_PARTS, lands_with="agentforge"
    ),
    "agentcompass": Source(agentcompass.decode, parts=agentcompass.PARTS, assemble=agentcompass_runs.assemble),
    "campaigns": Source(
        campaigns.decode,
        layout="campaigns/",
        reads=campaigns.READS,
        precedence=campaigns.PRECEDENCE,
        parts=campaigns.PARTS,
        assemble=campaigns.assemble,
        companion="campaigns",
        lands_with="worldseq",
    ),
}
"""Folder of the store to what is known of it."""

COMPANIONS = frozenset(name for name, source in SOURCES.items() if source.lands_with)
"""Sources that are nothing by themselves: they are landed with those that they accompany."""


def patterns(configured: Mapping[str, str], only: Iterable[str] = ()) -> list[Pattern]:
    """The path patterns of the named sources and of what lands with them, or of all; configured ones first choice.

    Raises:
        ValueError: a source is unknown.
    """
    wanted = set(only) or set(SOURCES) - COMPANIONS
    if unknown := sorted(wanted - (set(SOURCES) - COMPANIONS)):
        known = ", ".join(name for name in SOURCES if name not in COMPANIONS)
        raise ValueError(f"no source {unknown[0]!r}; there are {known}")
    return [
        pattern(name, configured.get(name, source.layout), source.reads)._replace(every_day=name in COMPANIONS)
        for name, source in SOURCES.items()
        if (source.lands_with or name) in wanted
    ]
