"""Structured logs: a line is JSON whatever stands in it, nothing is told unless it is asked for, no secret shows."""

import json
import re
from pathlib import Path

import pytest

from pipelines import logs


def test_nothing_is_told_unless_a_log_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    logs.event("run_started", verb="run")
    with logs.opened("r", ()):
        pass
    logs.event("run_finished", verb="run")
    assert capsys.readouterr() == ("", "")


def test_a_line_is_one_object_of_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[31m\n\u202e\u2028\x85 \ud800"
    with logs.opened("r1", ()):
        logs.event("run_failed", "error", error=hostile, where=Path("/x"))
    line = capsys.readouterr().err
    assert line.isascii()
    assert line.count("\n") == 1
    told = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told.pop("ts"))
    assert told == {"level": "error", "event": "run_failed", "run_id": "r1", "error": hostile, "where": "/x"}


def test_secrets_are_struck_out_as_they_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    with logs.opened("r", ('s"cr\\et', "https://h/token")):
        logs.event("x", error='a s"cr\\et b', nested={"url": ["https://h/token"]})
    told = json.loads(capsys.readouterr().err)
    assert (told["error"], told["nested"]) == ("a *** b", {"url": ["***"]})
