"""Files beside Harbor's trials: those of jobs, reward files, and copies; and how a batch of all of them is numbered."""

from typing import Any

import pytest

from assets.attempts.precedence import resolve
from assets.sources import harbor
from tests.assets.sources.harbor_documents import DAY, JOB, TRIAL, decode, document, figures, refused, trial
from tests.assets.sources.worldseq_documents import changed, only

# Jobs


def test_the_file_of_a_job_describes_its_run() -> None:
    decoded = decode(document(JOB, "team/nightly/result.json"), first=5)
    row = only(decoded.frames["benchmark_runs"])
    assert {name: value for name, value in row.items() if value is not None} == {
        "document": 5,
        "source": "harbor",
        "landed_on": DAY,
        "uri": f"memory://store/harbor/{DAY}/team/nightly/result.json",
        "run_id": "team/nightly",
        "registered": 7,
        "running": 2,
        "duplicates": 0,
    }
    candidate = only(decoded.candidates)
    assert (candidate["document"], candidate["attempt_id"], candidate["shape"]) == (5, None, "run")
    assert decoded.frames["observations"].is_empty()
    assert decoded.next_document == 6


def test_a_job_and_its_trials_name_the_same_run() -> None:
    decoded = decode(document(JOB, "a/nightly/result.json"), document(TRIAL, "a/nightly/t/result.json"))
    assert decoded.frames["benchmark_runs"]["run_id"].to_list() == decoded.frames["observations"]["run_id"].to_list()


def test_every_figure_of_a_job_is_recorded() -> None:
    decoded = decode(document(JOB, "nightly/result.json"))
    assert figures(decoded) == {
        "job:n_completed_trials": 5.0,
        "job:n_errored_trials": 3.0,
        "job:n_input_tokens": 2.0**40,
        "job:n_output_tokens": 14.0,
        "job:cost_usd": 0.07,
        "job:n_trials:oracle__m1__demo": 5.0,
        "job:n_errors:oracle__m1__demo": 3.0,
        "job:mean:oracle__m1__demo": 0.6,
        "job:pass@2:oracle__m1__demo": 1.0,
        "job:pass@4:oracle__m1__demo": 0.5,
    }
    frame = decoded.frames["recorded_values"]
    assert frame["run_id"].unique().to_list() == ["nightly"]
    assert frame["attempt_id"].unique().to_list() == [None]
    assert frame["shape"].unique().to_list() == ["run"]
    assert frame["document"].unique().to_list() == [0]


def test_metrics_of_any_name_and_kind() -> None:
    metrics = [{"mean": 0.5, "max": 1, "none": None}, {"per_task": {"a": 1}, "note": "x"}]
    job = changed("stats.evals", {"a__b": {"metrics": metrics}, "c": None}, JOB)
    told = {name: value for name, value in figures(decode(document(job, "j/result.json"))).items() if "__" in name}
    assert told == {
        "job:mean:a__b": 0.5,
        "job:max:a__b": 1.0,
        "job:per_task:a__b": ("unreadable", '{"a":1}'),
        "job:note:a__b": ("unreadable", '"x"'),
    }


def test_the_file_of_an_old_job() -> None:
    decoded = decode(document({"n_total_trials": 4, "stats": {"n_trials": 4, "n_errors": 1}}, "old/result.json"))
    assert figures(decoded) == {"job:n_completed_trials": 4.0, "job:n_errored_trials": 1.0}
    row = only(decoded.frames["benchmark_runs"])
    assert (row["registered"], row["running"]) == (4, None)
    assert only(decode(document({"stats": None}, "old/result.json")).frames["benchmark_runs"])["registered"] is None


@pytest.mark.parametrize(
    ("path", "value", "reason", "place"),
    [
        ("n_total_trials", "7", "wrong_type", "$.n_total_trials"),
        ("n_total_trials", -1, "out_of_range", "$.n_total_trials"),
        ("schema_version", 2, "out_of_range", "$.schema_version"),
        ("stats.n_running_trials", 1.5, "wrong_type", "$.stats.n_running_trials"),
        ("stats.n_pending_trials", 2**53, "out_of_range", "$.stats"),
        ("stats.cost_usd", "free", "wrong_type", "$.stats.cost_usd"),
        ("stats.evals.oracle__m1__demo.n_trials", "5", "wrong_type", "$.stats.evals.oracle__m1__demo.n_trials"),
        ("stats.evals.oracle__m1__demo.metrics", {}, "wrong_type", "$.stats.evals.oracle__m1__demo.metrics"),
        (
            "stats.evals.oracle__m1__demo.pass_at_k",
            {"2": "x"},
            "wrong_type",
            "$.stats.evals.oracle__m1__demo.pass_at_k.2",
        ),
    ],
)
def test_what_is_wrong_with_a_job(path: str, value: Any, reason: str, place: str) -> None:
    assert refused(changed(path, value, JOB), "nightly/result.json") == ("decode", reason, place)


# What trials record, and reward files


@pytest.mark.parametrize(("value", "told"), [(True, {"reward_valid": 1.0}), (False, {"reward_valid": 0.0}), (None, {})])
def test_whether_upstream_took_the_reward_for_valid(value: bool | None, told: dict[str, float]) -> None:
    decoded = decode(trial("reward_valid", value))
    assert figures(decoded) == told
    for row in decoded.frames["recorded_values"].iter_rows(named=True):
        assert (row["attempt_id"], row["run_id"], row["value_type"], row["shape"]) == (
            "harbor:t-1",
            None,
            "boolean",
            "trial",
        )


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("reward.json", b'{"reward": 0.5, "style": 1, "ok": true, "none": null}', None),
        ("reward.txt", b"0.5\n", {"reward:reward": 0.5}),
        ("reward.txt", b"\xef\xbb\xbf 1e-1 ", {"reward:reward": 0.1}),
        ("reward.json", b"{}", {}),
    ],
)
def test_a_reward_file_stands_beside_its_trial(name: str, content: bytes, told: dict[str, float] | None) -> None:
    decoded = decode(document(TRIAL, "j/t/result.json"), document(content, f"j/t/verifier/{name}"))
    row = only(decoded.side_files)
    assert row["directory"] == f"memory://store/harbor/{DAY}/j/t"
    assert row["document"] == 1
    expected = {"reward:reward": 0.5, "reward:style": 1.0, "reward:ok": 1.0, "reward:none": ("null", None)}
    assert figures(decoded) == {"reward_valid": 1.0, **(expected if told is None else told)}
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files, harbor.PRECEDENCE)
    assert resolution.quarantine.is_empty()
    assert resolution.recorded.sort("document")["attempt_id"].to_list() == ["harbor:t-1", "harbor:t-1"]


def test_the_reward_file_of_a_step_tells_of_its_trial() -> None:
    decoded = decode(document({"reward": 1}, "j/t/steps/one/verifier/reward.json"))
    assert only(decoded.side_files)["directory"] == f"memory://store/harbor/{DAY}/j/t"
    assert figures(decoded) == {"step_reward:one:reward": 1.0}
    decoded = decode(document({"reward": 1}, "steps/t/verifier/reward.json"))
    assert only(decoded.side_files)["directory"] == f"memory://store/harbor/{DAY}/steps/t"
    assert figures(decoded) == {"reward:reward": 1.0}


@pytest.mark.parametrize(
    ("name", "content", "reason", "place"),
    [
        ("reward.json", b'{"reward": "1"}', "wrong_type", "$.reward"),
        ("reward.json", b'{"reward": 1e999}', "out_of_range", "$.reward"),
        ("reward.json", b"0.5", "wrong_type", "$"),
        ("reward.json", b"{", "not_json", "byte 1"),
        ("reward.txt", b"", "empty", "byte 0"),
        ("reward.txt", b" \n", "empty", "byte 0"),
        ("reward.txt", b"passed", "wrong_type", "$"),
        ("reward.txt", b"0.5 0.6", "wrong_type", "$"),
        ("reward.txt", b"nan", "out_of_range", "$"),
        ("reward.txt", b"1e999", "out_of_range", "$"),
        ("reward.txt", b"0\xff", "not_utf8", "byte 1"),
    ],
)
def test_what_is_no_reward_file(name: str, content: bytes, reason: str, place: str) -> None:
    assert refused(content, f"j/t/verifier/{name}") == ("decode", reason, place)


# Copies


def test_of_copies_the_least_deep_then_the_first_by_name_counts() -> None:
    paths = ["z/backup/job/t/result.json", "job/t/result.json", "copy/t/result.json"]
    other = document(changed("task_name", "other", TRIAL), "backup/job/t/result.json")
    decoded = decode(*(document(TRIAL, path) for path in paths), other)
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files, harbor.PRECEDENCE)
    winner = decoded.frames["observations"].join(resolution.winners, on="document")
    assert winner["run_id"].to_list() == ["copy"]
    assert resolution.winners["identical_copies"].to_list() == [2]
    assert resolution.quarantine["uri"].to_list() == [other.uri]
    assert resolution.quarantine["reason"].to_list() == ["superseded"]


def test_equal_files_of_two_jobs_are_two_jobs() -> None:
    decoded = decode(document(JOB, "job/result.json"), document(JOB, "backup/job/result.json"))
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files, harbor.PRECEDENCE)
    kept = decoded.frames["benchmark_runs"].join(resolution.recorded, on="document", how="semi")
    assert kept["run_id"].to_list() == ["job", "backup/job"]


# Batches


def test_documents_are_numbered_without_gaps_whatever_they_are() -> None:
    contents = (
        document({"reward": 1}, "j/t/verifier/reward.json"),
        document(JOB, "j/result.json"),
        document(TRIAL, "j/t/result.json"),
        document(b"{", "j/u/result.json"),
    )
    decoded = decode(*contents, first=2**33)
    numbers = [*decoded.candidates["document"], *decoded.side_files["document"]]
    assert numbers == [2**33, 2**33 + 1, 2**33 + 2]
    assert decoded.next_document == 2**33 + 3
    assert decoded.candidates["uri"].to_list() == [contents[2].uri, contents[1].uri]


def test_an_empty_batch_has_every_frame() -> None:
    empty, full = decode(), decode(TRIAL)
    assert empty.frames.keys() == full.frames.keys()
    assert {name: frame.schema for name, frame in empty.frames.items()} == {
        name: frame.schema for name, frame in full.frames.items()
    }


def test_only_small_files_are_read() -> None:
    assert harbor.READS == ("/result.json", "/results.json", "/verifier/reward.json", "/verifier/reward.txt")
