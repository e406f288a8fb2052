"""Harbor's trials under its own two rules and under ours, and the trials of a run's one file."""

from typing import Any

import pytest

from tests.assets.benchmarks.layer import Row, attempts, both, counts, figure, metrics, observed, run, scored

POLICIES = ("scored_only", "strict", "harbor_0_26", "harbor_0_25")


def trial(task_id: str, *exceptions: str | tuple[str, bool], **rewards: float) -> Row:
    """A trial with these exceptions, each with the file's own ruling where there is one."""
    told = [one if isinstance(one, tuple) else (one, None) for one in exceptions]
    return {
        "task_id": task_id,
        "error": bool(told),
        "exceptions": [{"type": type_, "has_valid_reward": valid} for type_, valid in told],
        **scored(**rewards),
    }


def job(*trials: Row, registered: int | None = None, **columns: Any) -> tuple[list[Row], list[Row]]:
    """The trials of a job, and what its own file says."""
    return observed("harbor", *trials), [run(source="harbor", registered=registered, **columns)]


def means(*inputs: list[Row], metric: str = "reward") -> tuple[float | None, ...]:
    """The means of a reward key, under every policy."""
    rows = metrics(*inputs)
    told = [figure(rows, metric=metric, reducer="mean", policy=policy) for policy in POLICIES]
    assert len({counts(row) for row in told}) == 1
    return tuple(row["value"] for row in told)


def passes(*inputs: list[Row], policy: str = "harbor_0_26") -> dict[int, float]:
    """pass@k by k."""
    rows = metrics(*inputs).filter(reducer="pass_unbiased", policy=policy)
    assert set(rows["scope"]) <= {"overall"}
    return dict(rows.select("k", "value").rows())


def test_a_timed_out_trial_with_a_valid_reward_is_not_thrown_away() -> None:
    made = [trial("a", "AgentTimeoutError", reward=1.0), trial("a", "Unheard0f", reward=0.5)]
    assert means(*job(*made)) == (0.75, 0.75, 0.75, 0.75)
    assert counts(figure(metrics(*job(*made)), reducer="mean", policy="strict")) == (2, 2, 2, 0, 0)


def test_an_infrastructure_failure_is_not_a_zero_by_itself() -> None:
    made = [
        trial("a", reward=1.0),
        trial("a", "RateLimitError", reward=1.0),
        trial("b", "EnvironmentStartTimeoutError"),
    ]
    assert means(*job(*made)) == (1.0, 1 / 3, 1.0, 2 / 3)
    assert counts(figure(metrics(*job(*made)), reducer="mean", policy="strict")) == (3, 1, 2, 2, 0)


def test_what_the_file_rules_on_an_exception_decides() -> None:
    made = [trial("a", ("RateLimitError", True), reward=1.0), trial("a", ("AgentTimeoutError", False), reward=1.0)]
    assert means(*job(*made)) == (1.0, 0.5, 1.0, 1.0)


def test_a_missing_key_counts_nothing_for_harbor() -> None:
    made = [trial("a", reward=1.0, style=0.5), trial("a", reward=0.0), trial("b", "ApiError", style=1.0)]
    assert means(*job(*made), metric="style") == (0.5, 0.5 / 3, 0.25, 0.5)
    assert counts(figure(metrics(*job(*made)), metric="style", reducer="mean", policy="strict")) == (3, 1, 1, 2, 0)


def test_a_key_of_no_valid_trial_has_no_mean_since_0_26() -> None:
    made = [trial("a", reward=1.0), trial("a", "ApiError", style=1.0)]
    assert means(*job(*made), metric="style") == (None, 0.0, None, 0.5)


@pytest.mark.parametrize("made", [[trial("a", "RuntimeError")], [trial("a")]])
def test_without_any_key_the_metric_is_reward(made: list[Row]) -> None:
    assert means(*job(*made)) == (None, 0.0, None, 0.0)
    assert passes(*job(*made)) == {}


def test_registered_trials_that_left_nothing_stay_in_the_denominator() -> None:
    inputs = job(trial("a", reward=1.0), trial("b", reward=1.0), registered=5, duplicates=1)
    assert means(*inputs) == (1.0, 0.5, 1.0, 1.0)
    rows = metrics(*inputs)
    assert counts(figure(rows, reducer="mean", policy="strict")) == (4, 2, 0, 2, 0)
    assert figure(rows, reducer="mean", policy="strict")["reason"] is None
    assert figure(rows, reducer="pass_unbiased", k=1, policy="strict")["reason"] == "upper_bound"


def test_of_two_groups_neither_can_claim_the_missing_trials() -> None:
    inputs = job(trial("a", reward=1.0), trial("b", reward=1.0) | {"agent_name": None}, registered=4)
    rows = metrics(*inputs).filter(reducer="mean", policy="strict")
    assert rows.select("agent_name", "value", "total", "reason").rows() == [
        (None, 1.0, 1, "upper_bound"),
        ("agent", 1.0, 1, "upper_bound"),
    ]


@pytest.mark.parametrize(
    ("keys", "quoted"),
    [(("reward", "style"), {"reward"}), (("style",), {"style"}), (("style", "tests"), {"style", "tests"})],
)
def test_the_headline(keys: tuple[str, ...], quoted: set[str]) -> None:
    rows = metrics(*job(trial("a", **dict.fromkeys(keys, 1.0))))
    headline = rows.filter("headline")
    assert set(headline.select("metric", "policy").rows()) == {(metric, "scored_only") for metric in quoted}
    assert set(headline["reducer"]) == {"mean"}


# ---- pass@k ----

TWO = [trial("a", reward=1.0), trial("a", reward=0.0), trial("b", reward=0.0), trial("b", reward=0.0)]


def test_pass_at_k_as_harbor_reports_it_beside_ours() -> None:
    made = [*TWO, trial("b", "ApiError", reward=1.0), trial("c", "CancelledError")]
    assert passes(*job(*made)) == {2: 0.5}
    assert passes(*job(*made), policy="scored_only") == {1: 0.25, 2: 0.5}
    assert passes(*job(*made), policy="strict") == {1: pytest.approx(0.5 / 3), 2: 0.5}
    rows = metrics(*job(*made))
    told = {counts(figure(rows, reducer="pass_unbiased", k=2, policy=policy)) for policy in POLICIES[:3]}
    assert told == {(3, 2, 2, 1, 0)}


def test_an_extra_key_cancels_harbors_pass_at_k_and_not_ours() -> None:
    made = [*TWO, trial("b", reward=1.0, style=0.3)]
    assert passes(*job(*made)) == {}
    assert passes(*job(*made), policy="scored_only") == {1: pytest.approx(5 / 12), 2: pytest.approx(5 / 6)}


def test_one_fraction_and_there_is_nothing_to_pass() -> None:
    made = [*TWO, trial("b", reward=0.5)]
    assert passes(*job(*made)) == passes(*job(*made), policy="strict") == {}
    voided = [*TWO, trial("b", "ApiError", reward=0.5)]
    assert passes(*job(*voided)) == {2: 0.5}


def test_harbor_takes_the_only_key_whatever_its_name() -> None:
    made = [trial("a", reward=1.0), trial("a", other=0.0), trial("a", "ApiError", style=1.0)]
    assert passes(*job(*made)) == {2: 1.0}
    rows = metrics(*job(*made)).filter(reducer="pass_unbiased")
    assert set(rows["metric"]) == {"reward"}
    assert passes(*job(*made), policy="scored_only") == {1: 1.0, 2: None}


def test_the_only_key_is_the_primary_one() -> None:
    assert passes(*job(trial("a", score=1.0), trial("a", score=0.0)), policy="strict") == {1: 0.5, 2: 1.0}


def test_without_a_primary_key_nothing_is_passed() -> None:
    assert passes(*job(trial("a", x=1.0), trial("a", y=1.0))) == {}


def test_k_goes_up_to_the_smallest_number_of_valid_trials() -> None:
    made = [trial("a", reward=float(number == 0)) for number in range(11)] + [
        trial("b", reward=float(number == 0)) for number in range(9)
    ]
    assert sorted(passes(*job(*made))) == [2, 4, 5, 8]
    assert sorted(passes(*job(*made), policy="strict")) == [1, 2, 4, 5, 8, 10]


# ---- the trials of a run's one file ----


def resolved(*outcomes: bool | None) -> list[Row]:
    """Trials of one task of a run's file; null is a trial without an outcome."""
    return observed(
        "terminal-bench",
        *({"error": True} if outcome is None else scored(accuracy=outcome) for outcome in outcomes),
        agent_name=None,
        model_name=None,
    )


def test_an_unresolved_trial_and_one_without_outcome() -> None:
    rows = metrics(resolved(True, False, None, None))
    assert both(rows, metric="accuracy", reducer="mean") == (0.5, 0.25)
    assert counts(figure(rows, reducer="mean", policy="strict")) == (4, 2, 2, 2, 0)
    assert both(rows, reducer="pass_unbiased", k=2) == (1.0, 0.5)
    assert both(rows, reducer="pass_unbiased", k=4) == (None, 1.0)
    assert rows.filter("headline").select("reducer", "policy").rows() == [("mean", "strict")]
    assert set(rows["policy"]) == {"strict", "scored_only"}


def test_trials_of_both_formats_in_one_directory_are_one_job() -> None:
    rows = metrics(resolved(True) + observed("harbor", trial("b", reward=0.5), agent_name=None, model_name=None))
    assert both(rows, metric="accuracy", reducer="mean") == (1.0, 0.5)
    assert both(rows, metric="reward", reducer="mean") == (0.5, 0.25)


def test_other_sources_have_no_policies_of_harbor() -> None:
    assert set(metrics(attempts("t", True))["policy"]) == {"strict", "scored_only"}
