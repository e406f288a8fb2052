"""Released rule sets: what results were published under never changes.

Here: what a commit notes of a rule set, noting the release of one, and refusing one whose file is no longer what a
commit noted. Not here: rule sets themselves (`assets.rulesets`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from assets.rulesets.loader import RuleSet, RuleSetError
from assets.verification.contract import Verifications
from pipelines.storage.provenance import RULE_SET_DIGEST as DIGEST
from pipelines.storage.provenance import RULE_SET_STATUS as STATUS
from pipelines.storage.tables import Tables

CANDIDATE = "candidate"


def notes(rule_sets: Iterable[RuleSet]) -> dict[str, str]:
    """What a commit notes of the rule sets that its rows were computed under."""
    return {
        name: value
        for rules in rule_sets
        for name, value in ((f"{DIGEST}{rules.id}", rules.digest), (f"{STATUS}{rules.id}", rules.status))
    }


def release(tables: Tables, rule_sets: Mapping[str, RuleSet]) -> None:
    """Note of each rule set that it is released, where its results were published while it still was a candidate.

    They stay as they are when it is activated: nothing else would write down that it may not change any more.
    """
    stored = tables.provenance(Verifications)
    of_candidates = {(values[-1], noted.rule_set) for values, noted in stored.items() if noted.status == CANDIDATE}
    taken_over = [
        rules for rules in rule_sets.values() if rules.status != CANDIDATE and (rules.id, rules.digest) in of_candidates
    ]
    if not taken_over:
        return
    known = carried(tables.notes(Verifications))
    if unsaid := notes(rules for rules in taken_over if f"{STATUS}{rules.id}" not in known):
        tables.note(Verifications, unsaid)


def refuse_changed(rule_sets: Mapping[str, RuleSet], commits: Iterable[Mapping[str, Any]]) -> None:
    """Prove that each rule set is the one that its newest released results were computed under.

    Args:
        rule_sets: every rule set, by id.
        commits: what the commits of a results table note, newest first, down to one that stands for all earlier.

    Raises:
        RuleSetError: a file was changed after results were published under it; a candidate may change.
    """
    unseen = dict(rule_sets)
    for commit in commits:
        for id_, rules in list(unseen.items()):
            if commit.get(f"{STATUS}{id_}", CANDIDATE) == CANDIDATE:
                continue
            del unseen[id_]
            if commit[f"{DIGEST}{id_}"] != rules.digest:
                raise RuleSetError(
                    f"rule set {id_} was changed after results were published under it (digest "
                    f"{commit[f'{DIGEST}{id_}'][:12]}, now {rules.digest[:12]}); restore its file, and make the change "
                    f"a new one that names {id_} as its predecessor"
                )


def carried(commits: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What a commit that stands for these, which come newest first, notes of the rule sets: their newest release."""
    found: dict[str, str] = {}
    for commit in commits:
        for name, status in commit.items():
            if name.startswith(STATUS) and status != CANDIDATE and name not in found:
                digest = f"{DIGEST}{name.removeprefix(STATUS)}"
                found |= {name: status, digest: commit[digest]}
    return found
