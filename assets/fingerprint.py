"""Fingerprints: a short digest of what something is made of, by which it is known whether that changed.

Here: the digest. Not here: what belongs into one (whoever computes from it), and where it is kept (commits).
"""

import hashlib
import json
from collections.abc import Iterable

DIGITS = 16


def fingerprint(parts: Iterable[object]) -> str:
    """A digest of the parts in their order; what JSON does not know goes in as its text."""
    content = json.dumps(list(parts), default=str, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:DIGITS]
