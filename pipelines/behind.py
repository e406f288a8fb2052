"""Results that stayed behind what they are computed from: a run failed, or followed another one in the wrong order.

Here: the decision which of the stale results nobody has to be asked about. Not here: what is stale (`staleness`), and
the sensor that asks for their runs (`sensors`). A changed rule set or code is a person's to backfill, and so are the
days before the first one that was scored under a rule set.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assets.fingerprint import fingerprint
from pipelines.staleness import INPUTS_CHANGED, NOT_COMPUTED, Stale
from pipelines.storage.provenance import Values


class Decision(NamedTuple):
    """What to score again, newest first, and what the next look is to find unchanged."""

    score: list[Stale]
    cursor: str


def behind(stale: Iterable[Stale], scored: Iterable[Values], since: dt.date) -> list[Stale]:
    """Those that were computed from other inputs, and of days since then those that a run should have left.

    Args:
        stale: what is stale.
        scored: day and rule set of everything that was scored.
        since: the first day that a night lands.
    """
    first: dict[str, str] = {}
    for day, rules in scored:
        first[rules] = min(day, first.get(rules, day))

    def left_out(one: Stale) -> bool:
        return one.reason == NOT_COMPUTED and one.day >= since and one.day.isoformat() >= first.get(one.rules, "z")

    return [one for one in stale if one.reason == INPUTS_CHANGED or left_out(one)]


def decide(found: Sequence[Stale], cursor: str) -> Decision:
    """What to score: what the look before found just so, since most of it is computed in between."""
    seen = fingerprint(found)
    return Decision([*found] if seen == cursor else [], seen)
