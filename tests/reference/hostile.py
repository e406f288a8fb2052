"""Values that should break nothing: identifiers that look like something else, and numbers that no double holds."""

from random import Random
from typing import Any

Json = dict[str, Any]

HUGE = int("9" * 400)

IDENTIFIERS = (
    'q"uote',
    "it's",
    "a/b\\c",
    "two words",
    "💥",
    "<script>alert(1)</script>",
    '=cmd()|"x"',
    "Ünïcødé",
    "../../etc",
    "%s{}$1",
    "null",
    "~1",
)


def chance(rng: Random, probability: float) -> bool:
    """Return true with that probability."""
    return rng.random() < probability


def identifier(rng: Random) -> str:
    """Return a hostile but valid identifier."""
    return rng.choice(IDENTIFIERS)


def unique(rng: Random, stem: str, number: int) -> str:
    """Return an identifier that no other `number` of the same stem has."""
    return f"{stem}-{number}" if chance(rng, 0.7) else f"{stem}-{number} {identifier(rng)}"


def nonsense(rng: Random) -> Any:
    """Return what a player may send where a number, list or flag belongs."""
    return rng.choice(("nonsense", "0.5", [], {}, [1, "A"], {"A": "B"}, float("inf"), float("-inf"), HUGE, -HUGE))
