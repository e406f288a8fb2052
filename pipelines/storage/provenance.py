"""What a table's commits note of each partition: the code, the rule set and the inputs that its rows come from.

Here: one note per partition, and folding the notes of a table's commits into the newest of each. Not here: reading and
writing commits (`tables`), and deciding by them what has to be computed again (`ledger`, `pipelines.staleness`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assets.fingerprint import fingerprint

PARTITION_KEYS = "partition_keys"
INPUT_FINGERPRINT = "input_fingerprint"  # a JSON list, one per key
CODE_VERSION = "code_version"
RUN_ID = "run_id"
RULE_SET_DIGEST, RULE_SET_STATUS = "rule_set_digest/", "rule_set_status/"
CONSOLIDATED = "provenance"
"""A commit with this note says what every earlier commit said of the partitions: older ones need not be read."""

Values = tuple[str, ...]
"""A partition key: the values of the partition columns, in their order, as text."""


class Provenance(NamedTuple):
    """What the rows of one partition were computed from, by which run, and when."""

    code_version: str
    rule_set: str  # digest; empty where no rules apply
    inputs: str  # fingerprint of everything that was read; empty where the commit did not note it
    status: str = ""  # of the rule set at that time
    run_id: str = ""
    at: int = 0  # when it was committed, in milliseconds since 1970; 0 where that is not known

    @property
    def origin(self) -> tuple[str, str, str]:
        """What decides the rows: two partitions of the same origin hold the same ones."""
        return self.code_version, self.rule_set, self.inputs


UNKNOWN = Provenance("", "", "")


def of_inputs(given: Mapping[str, Provenance | None]) -> str:
    """The fingerprint of what a partition is computed from: the origin of each input, by name."""
    return fingerprint((name, found and found.origin) for name, found in sorted(given.items()))


def fold(commits: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> dict[Values, Provenance]:
    """The newest note of each partition, from commits that come newest first.

    Args:
        commits: what each commit notes.
        columns: the partition columns.
    """
    found: dict[Values, Provenance] = {}
    for commit in commits:
        for values, noted in _of_commit(commit, columns):
            found.setdefault(values, noted)
        if CONSOLIDATED in commit:
            for row in json.loads(commit[CONSOLIDATED]):
                found.setdefault(tuple(row[0]), Provenance(*row[1:]))
            break
    return found


def consolidated(found: Mapping[Values, Provenance]) -> dict[str, str]:
    """The note that stands for every earlier one."""
    return {CONSOLIDATED: json.dumps([[list(values), *noted] for values, noted in sorted(found.items())])}


def _of_commit(commit: Mapping[str, Any], columns: Sequence[str]) -> Iterable[tuple[Values, Provenance]]:
    keys = json.loads(commit.get(PARTITION_KEYS, "[]"))
    for key, given in zip(keys, _inputs(commit, len(keys)), strict=True):
        values = tuple(str(key[column]) for column in columns)
        rules = key.get("rules")
        yield (
            values,
            Provenance(
                commit.get(CODE_VERSION, ""),
                commit.get(f"{RULE_SET_DIGEST}{rules}", ""),
                given,
                commit.get(f"{RULE_SET_STATUS}{rules}", ""),
                commit.get(RUN_ID, ""),
                commit.get("timestamp", 0),
            ),
        )


def _inputs(commit: Mapping[str, Any], keys: int) -> list[str]:
    """The fingerprint of each key; none is known where the note is missing, or of an earlier form: not one per key."""
    told = json.loads(commit.get(INPUT_FINGERPRINT, "[]"))
    return told if isinstance(told, list) and len(told) == keys else [""] * keys
