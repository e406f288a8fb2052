"""What the commits of a table say of each partition: the newest note wins, whatever the order of partitions in them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.storage.provenance import Provenance, Values, consolidated, fold, of_inputs

BY_DAY = ("landed_on",)
BY_RULES = ("landed_on", "rules")


def commit(keys: Sequence[Mapping[str, str]], inputs: Sequence[str] = (), **noted: str) -> dict[str, Any]:
    """A commit as the history of a table gives it."""
    fingerprints = {"input_fingerprint": json.dumps(list(inputs))} if inputs else {}
    return {"version": 1, "operation": "WRITE", "partition_keys": json.dumps(list(keys)), **fingerprints, **noted}


def scored(day: str, rules: str) -> dict[str, str]:
    return {"landed_on": day, "rules": rules}


def test_every_part_of_a_note() -> None:
    noted = {"code_version": "2", "run_id": "r", "rule_set_digest/v1": "d1", "rule_set_status/v1": "active"}
    noted |= {"rule_set_digest/v2": "d2", "rule_set_status/v2": "candidate"}
    keys = [scored("2026-11-29", "v1"), scored("2026-11-29", "v2"), scored("2026-11-30", "v1")]
    assert fold([commit(keys, ["a", "b", "c"], **noted)], BY_RULES) == {
        ("2026-11-29", "v1"): Provenance("2", "d1", "a", "active", "r"),
        ("2026-11-29", "v2"): Provenance("2", "d2", "b", "candidate", "r"),
        ("2026-11-30", "v1"): Provenance("2", "d1", "c", "active", "r"),
    }


def test_the_newest_note_of_a_partition_wins() -> None:
    one, other = {"landed_on": "2026-11-29"}, {"landed_on": "2026-11-30"}
    newest_first = [commit([one], ["new"], code_version="2"), commit([other, one], ["b", "old"], code_version="1")]
    assert fold(newest_first, BY_DAY) == {
        ("2026-11-29",): Provenance("2", "", "new"),
        ("2026-11-30",): Provenance("1", "", "b"),
    }


@pytest.mark.parametrize("earlier", [{}, {"input_fingerprint": '{"2026-11-29": "a", "attempts": "b"}'}])
def test_an_older_note_of_another_form_is_one_of_no_known_inputs(earlier: dict[str, str]) -> None:
    days = [{"landed_on": "2026-11-29"}, {"landed_on": "2026-11-30"}, {"landed_on": "2026-12-01"}]
    assert fold([commit(days, code_version="1", run_id="r", **earlier)], BY_DAY) == {
        (day["landed_on"],): Provenance("1", "", "", run_id="r") for day in days
    }


@pytest.mark.parametrize("inputs", ['{"2026-11-29": "x"}', '{"attempts": "x", "rewards": "y"}', '["x"]', "[]"])
def test_a_note_that_is_not_one_per_key_is_one_of_no_known_inputs(inputs: str) -> None:
    days = ("2026-11-29", "2026-11-30")
    told = commit([{"landed_on": day} for day in days], code_version="1") | {"input_fingerprint": inputs}
    assert fold([told], BY_DAY) == {(day,): Provenance("1", "", "") for day in days}


@pytest.mark.parametrize("told", [{}, {"operation": "CREATE TABLE"}, {"migration": "added columns x"}, commit([])])
def test_commits_that_say_nothing_of_partitions(told: dict[str, Any]) -> None:
    assert fold([told], BY_DAY) == {}


def test_nothing_older_than_a_consolidating_note_is_read() -> None:
    stood = {("2026-11-28", "v1"): Provenance("1", "d", "x", "active", "r1")}

    def commits() -> Any:
        yield commit([scored("2026-11-29", "v1")], ["y"], code_version="2")
        yield {"operation": "OPTIMIZE", **consolidated(stood)}
        raise AssertionError("an older commit was read")

    found = fold(commits(), BY_RULES)
    assert found == {**stood, ("2026-11-29", "v1"): Provenance("2", "", "y")}


def test_a_newer_note_stands_before_a_consolidating_one() -> None:
    stood = {("2026-11-29",): Provenance("1", "", "old")}
    newest_first = [commit([{"landed_on": "2026-11-29"}], ["new"], code_version="1"), consolidated(stood)]
    assert fold(newest_first, BY_DAY)["2026-11-29",].inputs == "new"


def test_a_consolidating_commit_may_write_too() -> None:
    stood = {("2026-11-29",): Provenance("1", "", "old"), ("2026-11-30",): Provenance("1", "", "kept")}
    both = commit([{"landed_on": "2026-11-29"}], ["new"], code_version="1") | consolidated(stood)
    assert {values: noted.inputs for values, noted in fold([both], BY_DAY).items()} == {
        ("2026-11-29",): "new",
        ("2026-11-30",): "kept",
    }


def test_the_origin_leaves_out_who_and_under_which_status() -> None:
    noted = Provenance("1", "d", "x", "candidate", "r1")
    assert noted.origin == noted._replace(status="active", run_id="r2").origin == ("1", "d", "x")


def test_the_inputs_of_a_partition() -> None:
    attempts, verdicts = Provenance("1", "", "x"), Provenance("2", "d", "y")
    told = of_inputs({"attempts": attempts, "verifications": verdicts})
    assert told == of_inputs({"verifications": verdicts._replace(run_id="other"), "attempts": attempts})
    others = [
        {"attempts": attempts},
        {"attempts": attempts, "verifications": None},
        {"attempts": verdicts, "verifications": attempts},
        {"attempts": attempts._replace(inputs="z"), "verifications": verdicts},
        {"attempts": attempts._replace(code_version="3"), "verifications": verdicts},
        {"attempts": attempts, "verifications": verdicts._replace(rule_set="e")},
    ]
    assert len({told, *(of_inputs(one) for one in others)}) == 1 + len(others)


notes = st.builds(Provenance, *[st.sampled_from(["", "1", "2"])] * 5, st.sampled_from([0, 1_700_000_000_000]))
keys = st.tuples(st.sampled_from(["2026-11-28", "2026-11-29", "2026-11-30"]), st.sampled_from(["v1", "v2"]))


@given(st.lists(st.tuples(st.dictionaries(keys, st.sampled_from("abc")), st.sampled_from("12"), st.booleans())))
def test_as_a_plain_history_that_is_written_over(history: list[tuple[dict[Values, str], str, bool]]) -> None:
    """Commits one after another, each beside a plain dict that it writes over; some of them consolidate."""
    standing: dict[Values, Provenance] = {}
    newest_first: list[dict[str, Any]] = []
    for number, (written, code, consolidates) in enumerate(history):
        digests = {f"rule_set_digest/{rules}": f"d-{rules}-{code}" for _, rules in written}
        given_keys = [scored(*values) for values in written]
        told = commit(given_keys, list(written.values()), code_version=code, run_id=str(number), **digests)
        for (day, rules), inputs in written.items():
            standing[day, rules] = Provenance(code, f"d-{rules}-{code}", inputs, "", str(number))
        newest_first.insert(0, told | consolidated(standing) if consolidates else told)
    assert fold(newest_first, BY_RULES) == standing


@given(st.dictionaries(keys, notes))
def test_consolidated_and_back(standing: dict[Values, Provenance]) -> None:
    assert fold([consolidated(standing)], BY_RULES) == standing
