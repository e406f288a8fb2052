"""Which decoder reads which source; a source that is not listed here is not landed."""

from collections.abc import Callable, Mapping, Sequence

from assets.sources import worldseq
from assets.sources.documents import Decoded, Document, Limits

Decoder = Callable[[Sequence[Document], Limits, int], Decoded]

DECODERS: Mapping[str, Decoder] = {"worldseq": worldseq.decode}
"""Folder of the store to its decoder."""
