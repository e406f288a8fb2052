"""The failure hook: what is posted, how delivery fails, and that the URL is repeated nowhere."""

import datetime as dt
import socket
from pathlib import Path

import dagster as dg
import pytest

from pipelines import notify
from pipelines.build import build_definitions
from pipelines.jobs import day_range
from pipelines.notify import Failure, failures_told, message, tell
from pipelines.settings import Settings
from tests.pipelines.hooks import TOKEN, hook

FAILURE = Failure("verb", "run", "r1", "2026-11-01...", "s3://b/t: cannot be reached; check the network")
NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "PAUSES_SECONDS", (0.0, 0.0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_the_message_is_for_people_and_for_programs() -> None:
    assert message(FAILURE, NOON) == {
        "text": "scorehouse run (2026-11-01...) failed: s3://b/t: cannot be reached; check the network",
        "status": "failed",
        "verb": "run",
        "run_id": "r1",
        "partitions": "2026-11-01...",
        "error": "s3://b/t: cannot be reached; check the network",
        "at": "2026-11-30T12:00:00Z",
    }


def test_hostile_text_alarms_nobody_and_stays_one_line() -> None:
    told = message(Failure("job", "landing", "r", None, "<!channel> a\r\nb & \u202e" + "x" * 5000), NOON)
    assert str(told["text"]).startswith("scorehouse landing failed: &lt;!channel&gt; a b &amp; ")
    assert not {"\n", "\r"} & set(str(told["text"]))
    assert len(str(told["error"])) == notify.LONGEST_ERROR + 1
    with hook() as listening:
        assert tell(listening.url, Failure("job", "landing", "r", None, '"\x00\ud83d\ude00</script>')) is None
    assert listening.bodies[0]["error"] == '"\x00\ud83d\ude00</script>'.encode("utf-16", "surrogatepass").decode(
        "utf-16"
    )


@pytest.mark.parametrize(
    ("statuses", "requests", "why"),
    [
        ([], 1, None),
        ([204], 1, None),
        ([500], 2, None),
        ([429, 503], 3, None),
        ([500, 502, 503, 200], 3, "it answered 503"),
        ([404], 1, "it answered 404"),
        ([302], 1, "it answered 302, a redirect, which is not followed"),
        ([307], 1, "it answered 307, a redirect, which is not followed"),
    ],
)
def test_what_helps_is_tried_again(statuses: list[int], requests: int, why: str | None) -> None:
    with hook(statuses) as listening:
        assert tell(listening.url, FAILURE) == why
    assert listening.paths == [f"/{TOKEN}"] * requests
    assert {body["run_id"] for body in listening.bodies} == {"r1"}


def test_a_slow_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "TIMEOUT_SECONDS", 0.1)
    with hook(slow=True) as listening:
        assert tell(listening.url, FAILURE) == "no answer within 0.1 s"


def test_a_refused_connection_is_one_line_without_the_url() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        why = tell(f"http://127.0.0.1:{free.getsockname()[1]}/{TOKEN}", FAILURE)
    assert why is not None
    assert why.startswith("it cannot be reached")
    assert TOKEN not in why


@pytest.mark.parametrize("url", ["http://[::1", f"http://a b/{TOKEN}", f"http://{'x' * 70}.invalid/{TOKEN}", ""])
def test_an_address_that_cannot_be_is_no_exception(url: str) -> None:
    why = tell(url, FAILURE)
    assert why
    assert TOKEN not in why


def test_a_failed_run_of_dagster_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = tmp_path / "artifacts"
    with hook([500]) as listening:
        settings = Settings(str(absent), str(tmp_path / "tables"), tmp_path / "dagster", webhook=listening.url)
        definitions = build_definitions(settings)
        assert "failures_told" in {sensor.name for sensor in definitions.sensors or ()}
        day = dt.date(2026, 11, 29)
        with dg.DagsterInstance.ephemeral() as instance:
            result = definitions.resolve_job_def("landing").execute_in_process(
                instance=instance, tags=day_range(day, day), raise_on_error=False
            )
            context = dg.build_run_status_sensor_context(
                sensor_name="failures_told",
                dagster_event=result.get_run_failure_event(),
                dagster_instance=instance,
                dagster_run=result.dagster_run,
            )
            assert failures_told(listening.url, settings)(context.for_run_failure()) is None
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", str(absent))  # as if what failed had told it
            assert failures_told(listening.url, settings)(context.for_run_failure()) is None
    told, struck_out = listening.bodies[-2:]
    assert struck_out["error"].startswith("***: ")
    assert (told["job"], told["run_id"], told["partitions"]) == ("landing", result.run_id, "2026-11-29")
    assert told["error"].startswith(f"{absent}: ")
    assert "Traceback" not in told["error"]


def test_no_sensor_without_a_webhook(tmp_path: Path) -> None:
    definitions = build_definitions(Settings(str(tmp_path), str(tmp_path / "tables"), tmp_path / "dagster"))
    assert "failures_told" not in {sensor.name for sensor in definitions.sensors or ()}
