"""What a sensor asks for: nothing twice at once, nothing for ever, and a state that comes back once more."""

import uuid

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.jobs import PARTITION
from pipelines.requests import MOST_RUNS, STATE, Asked, Decision, decide, runs_before, told


def ended(*states: str) -> list[Asked]:
    """Runs that have ended, newest first, of these states."""
    return [Asked(finished=True, state=state) for state in states]


UNDER_WAY = Asked(finished=False, state="a")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([], "ask"),
        ([UNDER_WAY], "under_way"),
        ([UNDER_WAY, *ended("a", "a")], "under_way"),
        ([Asked(finished=False, state="b")], "under_way"),  # what it finds stays to be seen
        (ended("a"), "ask"),
        (ended("a", "a"), "ask"),
        (ended("a", "a", "a"), "given_up"),
        (ended("b", "b", "b"), "ask"),
        (ended("b", "a", "a"), "ask"),  # a state that came back: its runs before were about another time
        (ended("a", "b", "a"), "ask"),
        (ended("", "a", "a", "a"), "ask"),  # someone else, or the night, has run it since
        (ended("a", "a", "a", "b"), "given_up"),
    ],
)
def test_a_partition_whose_state_is_a(before: list[Asked], expected: str) -> None:
    assert decide({"day": "a"}, {"day": before})._asdict() == {
        "ask": [],
        "under_way": [],
        "given_up": [],
        expected: ["day"],
    }


RUNS = st.lists(st.builds(Asked, st.booleans(), st.sampled_from("ab")), max_size=5)


@given(st.dictionaries(st.sampled_from(["1", "2", "3"]), st.tuples(st.sampled_from("ab"), RUNS)))
def test_each_partition_is_decided_once_and_by_its_own_runs(world: dict[str, tuple[str, list[Asked]]]) -> None:
    states = {key: state for key, (state, _) in world.items()}
    together = decide(states, {key: runs for key, (_, runs) in world.items()})
    assert sorted(key for keys in together for key in keys) == sorted(world)
    for key, (state, runs) in world.items():
        alone = decide({key: state}, {key: runs})
        assert [key in keys for keys in together] == [key in keys for keys in alone]


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_runs_that_never_help_are_bounded_per_state_in_a_row(states: list[str]) -> None:
    """Every tick asks, every run ends at once and changes nothing."""
    runs: list[Asked] = []
    row = 0
    for before, state in zip([None, *states], states, strict=False):
        row = row + 1 if state == before else 1
        asked = decide({"day": state}, {"day": runs}).ask
        assert bool(asked) == (row <= MOST_RUNS)
        runs = [*ended(*(state for _ in asked)), *runs]


def test_the_runs_of_a_partition_are_those_of_its_job_newest_first() -> None:
    with dg.DagsterInstance.ephemeral() as instance:

        def run(job: str, key: str, state: str, status: dg.DagsterRunStatus = dg.DagsterRunStatus.FAILURE) -> None:
            tags = {PARTITION: key, STATE: state}
            instance.add_run(dg.DagsterRun(job_name=job, run_id=uuid.uuid4().hex, tags=tags, status=status))

        for state in "abcd":
            run("landing", "2026-11-29", state)
        run("landing", "2026-11-28", "x", dg.DagsterRunStatus.STARTED)
        run("results", "2026-11-29", "y")
        found = runs_before(instance, "landing", ["2026-11-28", "2026-11-29", "2026-11-27"])
    assert found == {
        "2026-11-29": ended("d", "c", "b"),
        "2026-11-28": [Asked(finished=False, state="x")],
        "2026-11-27": [],
    }


def test_a_decision_is_told_in_one_line() -> None:
    said = told(Decision(["1", "2"], [], ["3"]))
    assert said == "asked for: 1, 2; given up after 3 runs, look at them: 3"
