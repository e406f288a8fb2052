"""What differs between two rule sets, constant by constant.

Here: the comparison. Not here: what a difference would do to results (`rule_changes` says what it did).
"""

from typing import Any, NamedTuple

from assets.rulesets.loader import RuleSet, as_table

IDENTITY = ("id", "status", "title", "predecessor")
"""What tells rule sets apart and no result depends on."""


class Difference(NamedTuple):
    """A constant that differs; of a list also what was added and what was removed, both empty if only its order is."""

    constant: str
    before: Any
    after: Any
    added: list[Any] | None = None
    removed: list[Any] | None = None


def differences(before: RuleSet, after: RuleSet) -> list[Difference]:
    """Every constant that is not the same in both, to the sign of a zero, in the order of the file."""
    new = dict(as_table(after))
    return [
        _difference(name, old, new[name])
        for name, old in as_table(before)
        if name not in IDENTITY and repr(old) != repr(new[name])
    ]


def _difference(name: str, old: Any, new: Any) -> Difference:
    if not isinstance(old, list | tuple):
        return Difference(name, old, new)
    added, removed = [one for one in new if one not in old], [one for one in old if one not in new]
    return Difference(name, list(old), list(new), added, removed)
