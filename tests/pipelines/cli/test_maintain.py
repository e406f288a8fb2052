"""`scorehouse maintain`: figures per table, and nothing that a reader sees changes."""

import datetime as dt
import json
from pathlib import Path

import pytest

from assets.attempts.contract import Attempts
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, Scorehouse, attempt, store
from tests.pipelines.storage.aged import age

FIGURES = ("files", "bytes", "versions")


@pytest.mark.usefixtures("home")
def test_without_tables_it_says_so(scorehouse: Scorehouse) -> None:
    result = scorehouse("maintain")
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        [f"no tables yet below {Path.cwd() / '.scorehouse/tables'}; `scorehouse run` makes them"],
    )
    assert scorehouse("maintain", "--json", "--dry-run").stdout == "[]\n"
    assert not Path(".scorehouse").exists()


def test_what_is_old_goes_and_every_answer_stays(scorehouse: Scorehouse, tables: Tables) -> None:
    age(tables, Attempts, 40)
    store(tables, Attempts, attempt("worldseq:a", DAY_1))
    age(tables, Attempts, 40)
    store(tables, Attempts, attempt("worldseq:b", DAY_1))
    query = ("sql", "SELECT attempt_id, landed_on FROM attempts ORDER BY ALL", "--format", "json")
    before = scorehouse(*query).stdout

    planned = {row["table"]: row for row in json.loads(scorehouse("maintain", "--dry-run", "--json").stdout)}
    assert sum(row["vacuumed"] for row in planned.values()) == planned["attempts"]["vacuumed"] == 1
    result = scorehouse("maintain", "--json")

    assert result.exit_code == 0, result.output
    done = {row["table"]: row for row in json.loads(result.stdout)}
    assert list(done) == list(planned)
    assert done["attempts"]["vacuumed"] == 1
    assert [f"{name}_{when}" for name in FIGURES for when in ("before", "after")] == list(done["attempts"])[1:-1]
    assert "maintaining: " in result.stderr
    assert scorehouse(*query).stdout == before
    told = scorehouse("maintain").stdout.splitlines()
    assert told[0].split() == list(done["attempts"])
    assert told[-1].startswith("what the tables were within 30 days is kept")


def test_a_moment_that_is_no_longer_kept_is_told(scorehouse: Scorehouse, tables: Tables) -> None:
    age(tables, Attempts, 40)
    store(tables, Attempts, attempt("worldseq:a", DAY_1))
    age(tables, Attempts, 40)
    assert scorehouse("maintain").exit_code == 0
    query = ("sql", "SELECT count(*) AS n FROM attempts", "--format", "json", "--as-of")

    gone = scorehouse(*query, (dt.datetime.now(dt.UTC) - dt.timedelta(days=60)).isoformat())

    assert gone.exit_code == 1
    assert "attempts: what it held at" in gone.stderr
    assert "is no longer kept; the setting retention_days says how long it is" in gone.stderr
    kept = scorehouse(*query, (dt.datetime.now(dt.UTC) - dt.timedelta(days=20)).isoformat())
    assert json.loads(kept.stdout) == [{"n": 3}]


@pytest.mark.parametrize("days", ["6", "0", "-1", "many"])
def test_a_retention_that_would_break_a_reader_is_refused(
    scorehouse: Scorehouse, tables: Tables, monkeypatch: pytest.MonkeyPatch, days: str
) -> None:
    version = tables.version(Attempts)
    monkeypatch.setenv("SCOREHOUSE_RETENTION_DAYS", days)

    result = scorehouse("maintain")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "SCOREHOUSE_RETENTION_DAYS" in result.stderr
    assert "a whole number from 7 to 36500" in result.stderr
    assert tables.version(Attempts) == version
