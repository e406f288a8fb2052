"""What a query may do, what the views show, and how an answer is written."""

import csv
import datetime as dt
import io
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from assets.attempts.contract import Attempts
from assets.contract import descriptions
from pipelines.cli import database
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, HOSTILE, Scorehouse, attempt, store

pytestmark = pytest.mark.usefixtures("tables")


def rows(result: object) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output  # type: ignore[attr-defined]
    return json.loads(result.stdout)  # type: ignore[attr-defined,no-any-return]


def test_a_view_is_named_as_its_table(scorehouse: Scorehouse) -> None:
    assert rows(scorehouse("sql", "SELECT count(*) AS n FROM attempts", "--format", "json")) == [{"n": 4}]


def test_current_is_the_winner_across_days(scorehouse: Scorehouse) -> None:
    query = "SELECT attempt_id, landed_on, shape FROM attempts_current ORDER BY ALL"
    assert rows(scorehouse("sql", query, "--format", "json")) == [
        {"attempt_id": "worldseq:a", "landed_on": "2026-09-14", "shape": "full"},
        {"attempt_id": "worldseq:b", "landed_on": "2026-09-15", "shape": "full"},
    ]


def test_current_results_are_the_winners_under_the_current_rules(scorehouse: Scorehouse) -> None:
    query = "SELECT attempt_id, rules, class FROM verifications_current ORDER BY ALL"
    assert rows(scorehouse("sql", query, "--format", "json")) == [
        {"attempt_id": "worldseq:a", "rules": "v1", "class": "ineligible"},
        {"attempt_id": "worldseq:b", "rules": "v1", "class": "eligible"},
    ]


def test_current_parts_are_the_winners(scorehouse: Scorehouse) -> None:
    query = "SELECT landed_on FROM questions_current"
    assert rows(scorehouse("sql", query, "--format", "json")) == [{"landed_on": "2026-09-15"}]


@pytest.mark.parametrize(
    ("later", "wins"),
    [
        ({"shape": "summary", "finalized_at": dt.datetime(2027, 1, 1, tzinfo=dt.UTC)}, False),
        ({"finalized_at": None}, False),
        ({"finalized_at": dt.datetime(2026, 9, 15, tzinfo=dt.UTC)}, True),
        ({"finalized_at": dt.datetime(2026, 9, 14, 12, tzinfo=dt.UTC)}, True),  # else the later landing day
        ({"finalized_at": dt.datetime(2026, 9, 14, 12, tzinfo=dt.UTC), "vanished": True}, False),
    ],
)
def test_precedence_across_days(scorehouse: Scorehouse, tables: Tables, later: dict[str, object], wins: bool) -> None:
    day = dt.date(2026, 9, 20)
    store(tables, Attempts, attempt("worldseq:a", day, **later))
    query = "SELECT landed_on FROM attempts_current WHERE attempt_id = 'worldseq:a'"
    assert rows(scorehouse("sql", query, "--format", "json")) == [{"landed_on": str(day if wins else DAY_1)}]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "COPY (SELECT 1) TO 'x.csv'",
        "COPY attempts TO 'x.csv'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA version",
        "CALL pragma_version()",
        "SET threads = 1",
        "RESET threads",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO attempts VALUES (1)",
        "DELETE FROM attempts",
        "WITH x AS (SELECT 1) DELETE FROM attempts",
        "DROP VIEW attempts",
        "EXPORT DATABASE 'x'",
        "EXPLAIN SELECT 1",
        "USE memory",
        "CHECKPOINT",
        "SELEC 1",
        "SELECT nonsense FROM attempts",
        "SELECT getenv('HOME')",
        "SELECT * FROM read_text('secret.txt')",
        "SELECT * FROM read_blob('secret.txt')",
        "SELECT * FROM read_csv('secret.txt')",
        "SELECT * FROM read_csv_auto('secret.txt')",
        "SELECT * FROM read_json('secret.txt')",
        "SELECT * FROM parquet_scan('x.parquet')",
        "SELECT * FROM parquet_metadata('x.parquet')",
        "SELECT * FROM sniff_csv('secret.txt')",
        "SELECT * FROM glob('*')",
        "SELECT * FROM 'secret.txt'",
        "SELECT * FROM 'https://example.org/x.csv'",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        "SELECT * FROM delta_scan('x')",
        "SELECT * FROM settings",
        "SELECT * FROM enable_logging(storage = 'file', storage_path = 'log')",
        "SELECT * FROM enable_profiling(save_location = 'profile')",
        "SELECT * FROM duckdb_secrets()",
    ],
)
def test_only_one_select_over_the_tables(scorehouse: Scorehouse, home: Path, query: str) -> None:
    (home / "secret.txt").write_text("hush", encoding="utf-8")
    result = scorehouse("sql", query)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "hush" not in result.stderr
    assert result.stderr.startswith("scorehouse: ")
    assert result.stderr.count("\n") == 1
    assert {path.name for path in home.iterdir()} == {".scorehouse", "secret.txt"}


@pytest.mark.parametrize(
    "query",
    ["WITH x AS (FROM attempts) SELECT * FROM x", "FROM attempts", "VALUES (1)", "DESCRIBE attempts", "SHOW TABLES"],
)
def test_every_way_to_write_a_select(scorehouse: Scorehouse, query: str) -> None:
    assert scorehouse("sql", query).exit_code == 0


def test_a_table_that_does_not_exist_yet_is_said_so(scorehouse: Scorehouse) -> None:
    result = scorehouse("sql", "SELECT * FROM rewards_current")
    assert result.exit_code == 1
    assert "the table rewards_current does not exist yet; `scorehouse run` makes it" in result.stderr
    result = scorehouse("sql", "SELECT * FROM reward")
    assert result.exit_code == 2
    assert "there is no table reward; `scorehouse tables` lists" in result.stderr


def test_json_is_strict(scorehouse: Scorehouse) -> None:
    query = (
        "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, TIMESTAMPTZ '2026-01-01 01:00:00+01' AS c, sum(1) AS d,"
        " 1.25 AS e, [1, NULL] AS f, {'x': DATE '2026-01-02'} AS g, '\\xFF'::BLOB AS h, NULL AS i, true AS j"
    )
    assert rows(scorehouse("sql", query, "--format", "json")) == [
        {
            "a": None,
            "b": None,
            "c": "2026-01-01T00:00:00Z",
            "d": 1,
            "e": 1.25,
            "f": [1, None],
            "g": {"x": "2026-01-02"},
            "h": "/w==",
            "i": None,
            "j": True,
        }
    ]


def test_json_refuses_two_columns_of_one_name(scorehouse: Scorehouse) -> None:
    result = scorehouse("sql", "SELECT 1 AS a, 2 AS a", "--format", "json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "two columns are named a" in result.stderr


def test_no_rows_are_an_empty_list(scorehouse: Scorehouse) -> None:
    assert rows(scorehouse("sql", "SELECT * FROM attempts WHERE false", "--format", "json")) == []


def test_csv_holds_what_the_tables_hold_and_lists_as_json(scorehouse: Scorehouse) -> None:
    query = (
        "SELECT attempt_id, class, primary_value, failed_predicates, verified FROM verifications"
        " WHERE rules = 'v1' ORDER BY landed_on, attempt_id"
    )
    result = scorehouse("sql", query, "--format", "csv")
    assert list(csv.reader(io.StringIO(result.stdout, newline=""))) == [
        ["attempt_id", "class", "primary_value", "failed_predicates", "verified"],
        ["worldseq:a", "ineligible", "", '["floor", "end"]', "true"],
        ["worldseq:b", "inconclusive", "", "[]", "false"],
        ["worldseq:a", "eligible", "", "[]", "true"],
        ["worldseq:b", "eligible", "-2.5", "[]", "true"],
    ]


def test_excel_safe_defuses_text_and_leaves_numbers(scorehouse: Scorehouse) -> None:
    query = "SELECT unnest(['=1', '+1', '-1', '@x', '\t', '\r', 'a=1', '']) AS \"=t\", -1 AS n, '=x'::BLOB AS b"
    result = scorehouse("sql", query, "--format", "csv", "--excel-safe")
    found = list(csv.reader(io.StringIO(result.stdout, newline="")))
    assert found[0] == ["'=t", "n", "b"]
    assert [row[0] for row in found[1:]] == ["'=1", "'+1", "'-1", "'@x", "'\t", "'\r", "a=1", ""]
    assert {row[1] for row in found[1:]} == {"-1"}


def test_excel_safe_without_csv_is_refused(scorehouse: Scorehouse) -> None:
    assert scorehouse("sql", "SELECT 1", "--excel-safe").exit_code == 2


@pytest.mark.parametrize("format_", ["table", "json"])
def test_hostile_text_is_inert(scorehouse: Scorehouse, format_: str) -> None:
    result = scorehouse("sql", "SELECT model_name FROM attempts", "--format", format_)
    assert not {"\x1b", "\u202e"} & set(result.stdout)
    assert "[bold]b[/bold]" in result.stdout
    if format_ == "json":
        assert HOSTILE in {row["model_name"] for row in json.loads(result.stdout)}


def test_parquet_keeps_types(scorehouse: Scorehouse, home: Path) -> None:
    result = scorehouse("sql", "SELECT * FROM attempts ORDER BY uri", "--format", "parquet", "-o", "out.parquet")
    assert (result.exit_code, result.output) == (0, "")
    written = pq.read_table(home / "out.parquet")
    assert str(written.schema.field("last_modified").type) == "timestamp[us, tz=UTC]"
    assert str(written.schema.field("landed_on").type) == "date32[day]"
    assert written.num_rows == 4


def test_an_answer_goes_to_a_file(scorehouse: Scorehouse, home: Path) -> None:
    for format_ in ("csv", "json", "table"):
        result = scorehouse("sql", "SELECT 'a\u00e9' AS x", "--format", format_, "-o", "out")
        assert (result.exit_code, result.output) == (0, "")
        assert "a\u00e9" in (home / "out").read_text(encoding="utf-8")
    result = scorehouse("sql", "SELECT 1", "-o", "absent/out")
    assert result.exit_code == 1
    assert "absent/out: cannot be written" in result.stderr


def test_a_failing_query_leaves_the_file_as_it_was(scorehouse: Scorehouse, home: Path) -> None:
    (home / "out").write_text("before", encoding="utf-8")
    for format_, query in (
        ("json", "SELECT 1 AS a, 2 AS a"),
        ("csv", "SELECT CASE WHEN range < 50000 THEN 1 ELSE error('late') END FROM range(60000)"),
        ("parquet", "SELECT CASE WHEN range < 50000 THEN 1 ELSE error('late') END FROM range(60000)"),
    ):
        result = scorehouse("sql", query, "--format", format_, "-o", "out")
        assert result.exit_code == (2 if format_ == "json" else 1)
        assert result.stderr.startswith("scorehouse: t")
        assert result.stderr.count("\n") == 1
        assert (home / "out").read_text(encoding="utf-8") == "before"
    assert {path.name for path in home.iterdir()} == {".scorehouse", "out"}
    assert scorehouse("sql", "SELECT 1", "-o", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_as_of_reads_an_earlier_state(scorehouse: Scorehouse, tables: Tables) -> None:
    time.sleep(0.02)
    before = dt.datetime.now(dt.UTC)
    time.sleep(0.02)
    store(tables, Attempts, attempt("worldseq:new", dt.date(2026, 9, 20)))
    query = ("sql", "SELECT count(*) AS n FROM attempts", "--format", "json")
    assert rows(scorehouse(*query)) == [{"n": 5}]
    assert rows(scorehouse(*query, "--as-of", before.isoformat())) == [{"n": 4}]
    assert rows(scorehouse(*query, "--as-of", "2020-01-01")) == [{"n": 0}]
    assert scorehouse(*query, "--as-of", "yesterday").exit_code == 2


def test_a_table_from_before_a_column_was_added(scorehouse: Scorehouse, tables: Tables) -> None:
    """As an earlier version wrote it, and nothing has migrated it since."""
    rows_then = tables.scan(Attempts).drop("vanished").collect()
    shutil.rmtree(tables.uri(Attempts))
    write_deltalake(tables.uri(Attempts), rows_then.to_arrow(), partition_by=["landed_on"])
    query = "SELECT attempt_id, landed_on, vanished FROM attempts_current ORDER BY ALL"
    assert rows(scorehouse("sql", query, "--format", "json")) == [
        {"attempt_id": "worldseq:a", "landed_on": "2026-09-14", "vanished": None},
        {"attempt_id": "worldseq:b", "landed_on": "2026-09-15", "vanished": None},
    ]


def test_columns_carry_their_descriptions(scorehouse: Scorehouse) -> None:
    query = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'attempts'"
    found = rows(scorehouse("sql", query, "--format", "json"))
    assert {row["column_name"]: row["comment"] for row in found} == descriptions(Attempts)


def test_filters_and_columns_are_pushed_into_the_scan(scorehouse: Scorehouse, tables: Tables) -> None:
    # A day whose file is gone can only be read around if the partition filter reaches the scan.
    store(tables, Attempts, attempt("worldseq:gone", dt.date(2026, 9, 21)))
    for file in Path(tables.uri(Attempts)).glob("landed_on=2026-09-21/*.parquet"):
        file.unlink()
    query = "SELECT count(*) AS n FROM attempts WHERE landed_on < DATE '2026-09-20'"
    assert rows(scorehouse("sql", query, "--format", "json")) == [{"n": 4}]


def test_an_interrupt_ends_a_query_that_computes() -> None:
    # A process that a shell started in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    endless = "SELECT count(*) FROM range(1_000_000_000_000) AS r(n) WHERE n % 7 = random()"
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        database.Answer(duckdb.connect(":memory:"), endless, 1)
    signal.signal(signal.SIGINT, before)
