"""Errors are one line with the right status, credentials never show, and starting is quick."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.cli.errors import explain
from pipelines.cli.main import VERBS
from pipelines.settings import SettingsError
from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from tests.pipelines.cli.processes import ROOT, command, environment, process
from tests.pipelines.cli.warehouse import Scorehouse


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rlues"], "there is no verb 'rlues'; did you mean rules?"),
        (["rules", "lst"], "No such command 'lst'"),
        (["--bogus"], "No such option: --bogus"),
        (["rules", "show"], "Missing argument 'ID'"),
        (["sql", "SELECT 1", "--format", "xml"], "'xml' is not one of"),
        (["run", "--from", "2026-09-15", "--to", "2026-09-14"], "the range of days is reversed"),
        (["run", "--from", "yesterday"], "--from 'yesterday' is no day"),
        (["run", "--source", "unknown"], "no source 'unknown'"),
    ],
)
def test_wrong_usage_is_one_line_and_2(scorehouse: Scorehouse, arguments: list[str], expected: str) -> None:
    result = scorehouse(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("scorehouse: ")
    assert expected in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_wrong_setting_is_one_line_and_2(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREHOUSE_TABELS", "x")
    result = scorehouse("tables")
    assert result.exit_code == 2
    assert result.stderr == (
        "scorehouse: unknown environment variable SCOREHOUSE_TABELS; did you mean SCOREHOUSE_TABLES?\n"
    )


def test_an_argument_that_is_no_text_is_one_line_and_2(scorehouse: Scorehouse) -> None:
    result = scorehouse("sql", "SELECT '\udcff'")
    assert result.exit_code == 2
    assert result.stderr == "scorehouse: an argument is not UTF-8: SELECT '\\udcff'\n"


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("rules", "show", "v1"), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as started:
        assert started.stdout
        assert started.stderr
        started.stdout.close()
        assert started.stderr.read() == b""


def test_an_interrupted_verb_says_so(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipelines.run.run", interrupted)
    result = scorehouse("run")
    assert result.exit_code == 130
    assert result.stderr == "scorehouse: interrupted; what was committed stays, run it again to go on\n"


def test_a_full_disk_under_the_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command("sql", "SELECT 1"), env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (result.returncode, result.stderr) == (1, "scorehouse: the output: No space left on device\n")


def test_a_folder_that_cannot_hold_dagsters_storage_is_one_line_and_2(
    scorehouse: Scorehouse, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".scorehouse/artifacts").mkdir(parents=True)
    (home / "file").touch()
    monkeypatch.setenv("DAGSTER_HOME", str(home / "file"))
    result = scorehouse("run")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"scorehouse: {home}/file: cannot hold Dagster's storage: File exists; set DAGSTER_HOME"
    ]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (SettingsError("x"), 2),
        (StoreConfigurationError("x"), 2),
        (StoreUnavailableError("x"), 1),
        (StoreError("x"), 1),
    ],
)
def test_the_status_follows_from_the_cause(error: Exception, status: int) -> None:
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = error
    assert explain(error) == explain(wrapped) == ("x", status)
    assert explain(KeyError("k"))[1] == 1


def test_a_scan_that_fails_while_it_is_collected_is_one_clear_line() -> None:
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = OSError("object-store error: Generic S3 error: after 8 retries 500 <Code>InternalError</Code>")
    told = "the tables: cannot read: the store failed; try again later (it answered InternalError)"
    assert explain(wrapped) == (told, 1)
    assert explain(OSError("Generic S3 error: 403 <Code>AccessDenied</Code>"))[1] == 2


@pytest.mark.parametrize("place", [["--debug", "rules", "show", "v99"], ["rules", "show", "v99", "--debug"]])
def test_debug_adds_the_traceback(scorehouse: Scorehouse, place: list[str]) -> None:
    result = scorehouse(*place)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("scorehouse: no rule set 'v99'")


@pytest.mark.parametrize("options", [[], ["--debug"]])
def test_no_credential_is_printed(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "v77")
    result = scorehouse("rules", "show", "v77", *options)
    assert "v77" not in result.stderr
    assert "***" in result.stderr


def test_hostile_arguments_are_inert(scorehouse: Scorehouse) -> None:
    result = scorehouse("rules", "show", "\x1b[31m\n\u202e")
    assert result.stderr.count("\n") == 1
    assert not {"\x1b", "\u202e"} & set(result.stderr)


def test_help_names_every_verb_and_imports_none(tmp_path: Path) -> None:
    result = process("--help", cwd=tmp_path)
    assert result.returncode == 0
    assert all(verb in result.stdout for verb in VERBS)
    code = "import sys; import pipelines.cli.main; sys.exit(bool({'polars', 'dagster', 'duckdb'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_every_verb_has_help(scorehouse: Scorehouse) -> None:
    for verb in VERBS:
        result = scorehouse(verb, "--help")
        assert result.exit_code == 0, verb
        assert "Usage: " in result.stdout


def test_version(scorehouse: Scorehouse) -> None:
    result = scorehouse("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("scorehouse ")


def test_without_a_verb_it_shows_help_and_2(scorehouse: Scorehouse) -> None:
    result = scorehouse()
    assert result.exit_code == 2
    assert "Usage: scorehouse" in result.stderr


@pytest.mark.usefixtures("tables")
def test_a_closed_pipe_is_no_error(home: Path) -> None:
    query = command("sql", "FROM range(200000)", "--format", "csv")
    with subprocess.Popen(
        query, cwd=home, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == "range\n"
        running.stdout.close()
        assert running.stderr.read() == ""
