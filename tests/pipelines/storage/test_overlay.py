"""One store laid over another: what was written above is read there, the rest below, and nothing is written below."""

import pickle
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.storage.overlay import Overlay, overlay
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, NEXT_DAY, Attempts, Scores, day, rows, scored

LATER = date(2026, 12, 1)


@pytest.fixture
def below(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "below"))


@pytest.fixture
def laid(below: Tables, tmp_path: Path) -> Overlay:
    return overlay(below, str(tmp_path / "scratch"))


def put(store: Tables, key: dict[str, object], *ids: str, run: str = "r") -> None:
    contract = Scores if "rules" in key else Attempts
    store.replace(contract, rows(contract, key, ids), [key], {"run_id": run})


def files(store: Tables) -> dict[str, bytes]:
    """Every file below a store, with its content."""
    return {str(path): path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file()}


def ids(store: Tables, keys: list[dict[str, object]] | None = None) -> list[str]:
    return sorted(store.scan(Scores, keys).collect()["attempt_id"])


def test_nothing_is_there(laid: Overlay, below: Tables) -> None:
    assert not laid.exists(Scores)
    assert (laid.provenance(Scores), laid.rows(Scores)) == ({}, {})
    laid.ensure([Scores])
    assert laid.exists(Scores)
    assert ids(laid) == []
    assert not Path(below.root).exists()


def test_a_table_that_is_only_below(laid: Overlay, below: Tables) -> None:
    put(below, scored("v1"), "a")
    assert laid.exists(Scores)
    assert ids(laid) == ["a"]
    assert laid.rows(Scores) == {(DAY.isoformat(), "v1"): 1}
    laid.ensure([Scores])
    assert ids(laid) == ["a"]


def test_a_copy_in_another_process_writes_nothing_below(laid: Overlay, below: Tables) -> None:
    put(below, scored("v1"), "a")
    before = files(below)
    there = pickle.loads(pickle.dumps(laid))  # noqa: S301 - our own bytes
    put(there, scored("v1"), "b")
    assert (ids(there), ids(laid)) == (["b"], ["b"])
    assert files(below) == before


def test_a_table_that_is_only_above(laid: Overlay) -> None:
    put(laid, scored("v1"), "a")
    assert ids(laid) == ["a"]
    assert laid.rows(Scores) == {(DAY.isoformat(), "v1"): 1}


def test_what_is_written_hides_what_is_below_and_nothing_else(laid: Overlay, below: Tables) -> None:
    for key in (scored("v1"), scored("v2"), scored("v1", NEXT_DAY)):
        put(below, key, f"{key['rules']}-{key['landed_on']}")
    before = files(below)
    put(laid, scored("v2"), "new", "newer", run="planned")
    put(laid, scored("v2", LATER), "added")
    assert ids(laid) == ["added", "new", "newer", f"v1-{DAY}", f"v1-{NEXT_DAY}"]
    assert laid.rows(Scores) == {
        (str(DAY), "v1"): 1,
        (str(DAY), "v2"): 2,
        (str(NEXT_DAY), "v1"): 1,
        (str(LATER), "v2"): 1,
    }
    assert {values: one.run_id for values, one in laid.provenance(Scores).items() if one.run_id != "r"} == {
        (str(DAY), "v2"): "planned"
    }
    assert files(below) == before
    assert sorted(below.scan(Scores).collect()["attempt_id"]) == [f"v1-{DAY}", f"v1-{NEXT_DAY}", f"v2-{DAY}"]


def test_a_partition_that_was_emptied_hides_what_is_below(laid: Overlay, below: Tables) -> None:
    put(below, scored("v1"), "a")
    put(below, scored("v2"), "b")
    put(laid, scored("v1"))
    assert ids(laid) == ["b"]
    assert laid.rows(Scores) == {(str(DAY), "v2"): 1}


def test_keys_in_whole_and_in_part(laid: Overlay, below: Tables) -> None:
    put(below, scored("v1"), "a")
    put(below, scored("v1", NEXT_DAY), "b")
    put(laid, scored("v2"), "c")
    put(laid, scored("v1", NEXT_DAY), "d")
    assert ids(laid, [scored("v1")]) == ["a"]
    assert ids(laid, [scored("v1", NEXT_DAY), scored("v2")]) == ["c", "d"]
    assert ids(laid, [day()]) == ["a", "c"]
    assert ids(laid, [{"rules": "v1"}]) == ["a", "d"]
    assert ids(laid, [scored("v9")]) == []
    with pytest.raises(ValueError, match="no partition keys"):
        laid.scan(Scores, [])


def test_columns_that_only_the_contract_has(laid: Overlay, below: Tables) -> None:
    put(below, day(), "a")
    put(laid, day(NEXT_DAY), "b")
    found = laid.scan(Attempts).collect()
    assert found.columns == list(below.scan(Attempts).collect_schema())
    assert sorted(found["attempt_id"]) == ["a", "b"]


def test_versions_and_notes_are_those_below(laid: Overlay, below: Tables) -> None:
    put(below, scored("v1"), "a", run="published")
    put(laid, scored("v1"), "b", run="planned")
    assert laid.uri(Scores) == below.uri(Scores)
    assert laid.version(Scores) == below.version(Scores) == 1
    assert [commit.get("run_id") for commit in laid.notes(Scores)] == ["published", None]


writes = st.lists(
    st.tuples(
        st.sampled_from(["below", "above"]),
        st.sampled_from([DAY, NEXT_DAY]),
        st.sampled_from(["v1", "v2"]),
        st.sets(st.sampled_from("abc")),
    ),
    max_size=6,
)


@given(writes)
@settings(max_examples=15, deadline=None)
def test_as_two_plain_dicts(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, date, str, set[str]]]
) -> None:
    folder = tmp_path_factory.mktemp("laid")
    lower = Tables(str(folder / "below"))
    upper = overlay(lower, str(folder / "scratch"))
    upper.ensure([Scores])
    plain: dict[str, dict[tuple[date, str], set[str]]] = {"below": {}, "above": {}}
    for where, landed_on, rules, given_ids in made:
        put(lower if where == "below" else upper, scored(rules, landed_on), *sorted(given_ids))
        plain[where][landed_on, rules] = given_ids
    expected = plain["below"] | plain["above"]
    found = upper.scan(Scores).select("landed_on", "rules", "attempt_id").collect()
    assert sorted(found.rows()) == sorted((*key, id_) for key, held in expected.items() for id_ in held)
    assert set(upper.provenance(Scores)) == {(str(landed_on), rules) for landed_on, rules in expected}
    assert upper.rows(Scores) == {(str(d), r): len(held) for (d, r), held in expected.items() if held}
    assert found.schema["landed_on"] == pl.Date
