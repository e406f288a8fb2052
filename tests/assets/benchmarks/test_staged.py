"""Jobs of staged trials."""

import pytest

from tests.assets.benchmarks.layer import Row, both, counts, figure, metrics, observed, reward, totals


def job(
    *rewards: float | None, k: int = 4, indices: list[int] | None = None, **columns: Row
) -> tuple[list[Row], list[Row], list[Row]]:
    """A job of trials with these rewards, null for a failed one."""
    trials = observed(
        "agentforge",
        *(
            {"attempt_id": f"t{number}", "attempt_index": index, "error": value is None}
            for number, (value, index) in enumerate(zip(rewards, indices or range(1, 9), strict=False))
        ),
        plan_k=k,
        model_name=None,
        task_id="pack",
        **columns,
    )
    return trials, [], [reward(f"t{number}", value) for number, value in enumerate(rewards)]


def test_rewards_and_passes_under_both_policies() -> None:
    rows = metrics(*job(1.0, 0.5, None))
    assert both(rows, metric="reward", reducer="mean") == (0.75, 0.375)
    assert both(rows, metric="passed", reducer="mean") == (0.5, 0.25)
    assert both(rows, metric="passed", reducer="pass", k=4) == (1.0, 1.0)
    assert counts(figure(rows, metric="reward", reducer="mean", policy="strict")) == (4, 2, 1, 2, 0)
    assert counts(figure(rows, metric="passed", reducer="pass", policy="strict")) == (1, 1, 1, 0, 0)
    assert rows.filter("headline").select("metric", "reducer", "policy").rows() == [
        ("passed", "mean", "strict"),
        ("reward", "mean", "scored_only"),
    ]
    assert set(rows["scope"]) == {"overall"}
    assert not rows.filter(reducer="pass_unbiased").height


@pytest.mark.parametrize(
    ("rewards", "k", "values"),
    [
        ((0.5, 0.9999), 2, (0.0, 0.0)),
        ((0.5, None), 2, (None, 0.0)),
        ((0.5,), 2, (None, 0.0)),
        ((1.0,), 1, (1.0, 1.0)),
        ((0.5, 1.0 - 1e-10), 2, (1.0, 1.0)),
        ((None, None), 2, (None, 0.0)),
        ((0.5, 0.5, 1.0), 2, (0.0, 0.0)),
    ],
)
def test_pass_at_k(rewards: tuple[float | None, ...], k: int, values: tuple[float | None, float]) -> None:
    assert both(metrics(*job(*rewards, k=k)), metric="passed", reducer="pass", k=k) == values


def test_a_job_has_registered_what_it_planned_or_what_was_found() -> None:
    assert totals(*job(1.0, None, k=4)).select("registered", "present", "valid", "errors", "missing").rows() == [
        (4, 2, 1, 1, 2)
    ]
    assert totals(*job(1.0, 1.0, 0.5, k=2)).select("registered", "missing").rows() == [(3, 0)]


def test_a_trial_without_a_reward_row_is_unavailable() -> None:
    trials, runs, _ = job(1.0, 0.5, k=2)
    rows = metrics(trials, runs, [])
    assert both(rows, metric="reward", reducer="mean") == (None, 0.0)
    assert totals(trials, runs, [])["valid"].to_list() == [0]


def test_recorded_rewards_count_and_those_of_other_kinds_do_not() -> None:
    trials, runs, _ = job(1.0, 0.5, k=2)
    given = [reward("t0", 0.25, "agentforge-recorded"), reward("t1", 0.5, "harbor")]
    assert both(metrics(trials, runs, given), metric="reward", reducer="mean") == (0.25, 0.125)
