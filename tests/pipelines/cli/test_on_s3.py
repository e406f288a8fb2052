"""The reading verbs over tables in a real S3 bucket."""

import json

import pytest

from assets.attempts.contract import Attempts
from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, Scorehouse, attempt, store
from tests.s3 import S3Server


@pytest.fixture
def root(s3_server: S3Server, s3_bucket: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tables with one attempt, as the configured location."""
    url = f"s3://{s3_bucket}/tables"
    for name, value in s3_server.variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SCOREHOUSE_TABLES", url)
    monkeypatch.setenv("SCOREHOUSE_ARTIFACTS", f"s3://{s3_bucket}/artifacts")
    s3_server.put(s3_bucket, "artifacts/worldseq/2026-09-14/a.json")
    store(Tables(url, store_options(url, s3_server.variables())), Attempts, attempt("worldseq:a", DAY_1))
    return url


def test_sql_and_tables(scorehouse: Scorehouse, root: str) -> None:
    result = scorehouse("sql", "SELECT attempt_id FROM attempts_current", "--format", "json")
    assert json.loads(result.stdout) == [{"attempt_id": "worldseq:a"}]
    [table] = json.loads(scorehouse("tables", "--json").stdout)
    assert (table["uri"], table["rows"]) == (f"{root}/attempts", 1)


def test_doctor_commits_and_cleans_up(scorehouse: Scorehouse, root: str, s3_server: S3Server) -> None:
    bucket = root.split("/")[2]
    before = s3_server.client.list_objects_v2(Bucket=bucket)["KeyCount"]
    result = scorehouse("doctor")
    assert result.exit_code == 0, result.output
    assert s3_server.client.list_objects_v2(Bucket=bucket)["KeyCount"] == before


def test_a_reader_may_ask_but_not_commit(
    scorehouse: Scorehouse, root: str, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_server.variables("reader").items():
        monkeypatch.setenv(name, value)
    assert scorehouse("sql", "SELECT count(*) FROM attempts").exit_code == 0
    result = scorehouse("doctor", "--json")
    assert result.exit_code == 1
    found = {finding["check"]: finding for finding in json.loads(result.stdout)}
    assert [name for name, finding in found.items() if not finding["ok"]] == ["tables"]
    assert f"{root}: cannot write" in found["tables"]["detail"]
    assert "reader-secret" not in result.output


@pytest.mark.parametrize(
    ("variables", "status", "expected"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong-secret-9c1e"}, 2, "credentials"),
        ({"SCOREHOUSE_TABLES": "s3://no-such-bucket-here/tables"}, 2, "bucket"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, 1, "cannot reach"),
    ],
)
@pytest.mark.usefixtures("root")
def test_what_cannot_be_read_is_one_line(
    scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], status: int, expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for arguments in (["sql", "SELECT * FROM attempts"], ["tables"], ["quarantine", "list"]):
        result = scorehouse(*arguments)
        assert result.exit_code == status, result.output
        assert expected in result.stderr
        assert result.stderr.count("\n") == 1
        assert not {"wrong-secret-9c1e", "owner-key"} & set(result.output.replace("'", " ").split())
