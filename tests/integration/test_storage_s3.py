"""Storage on a real S3 server: the same promises as on a local disk, and what people see when S3 refuses."""

import logging
import socket
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipelines.storage.artifact_store import ArtifactStore, Fetched
from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from pipelines.storage.log_files import LogFiles
from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables
from pipelines.storage.time_travel import as_of
from pipelines.storage.upkeep import LONGEST_WRITE, maintain
from tests.pipelines.storage.storage_contracts import NEXT_DAY, Attempts, Scores, day, rows, scored
from tests.pipelines.storage.storage_races import Place, different_days, same_day, upkeep_beside_writers
from tests.s3 import S3Server

HOSTILE_RULES = ["a/b", "v 1", "50%25", "=x&y+z", "a*[b]?", "'\"", "..", "é🎉", "#?", "a\\b"]
HOSTILE_KEYS = [
    "worldseq/ü 1/a+b%20c.json",
    "worldseq/'\"<x>&/=cmd().json",
    "worldseq/#?*[a].json",
    "worldseq/é🎉.json",
]


def tables(url: str, variables: dict[str, str]) -> Tables:
    return Tables(url, store_options(url, variables))


def artifacts(url: str, variables: dict[str, str]) -> ArtifactStore:
    return ArtifactStore(url, store_options(url, variables))


@pytest.fixture
def table_store(s3_server: S3Server, s3_bucket: str) -> Tables:
    return tables(f"s3://{s3_bucket}/deep/tables", s3_server.variables())


@pytest.fixture
def artifact_store(s3_server: S3Server, s3_bucket: str) -> ArtifactStore:
    return artifacts(f"s3://{s3_bucket}/artifacts", s3_server.variables())


def test_keys_are_replaced_exactly(table_store: Tables) -> None:
    days = [day(), day(NEXT_DAY)]
    table_store.replace(Attempts, pl.concat(rows(Attempts, key, ["old"]) for key in days), days)

    commit = table_store.replace(Attempts, rows(Attempts, day(), ["new"]).lazy(), [day()])

    assert (commit.version, commit.files, commit.removed) == (2, 1, 1)
    expected = pl.concat([rows(Attempts, day(), ["new"]), rows(Attempts, day(NEXT_DAY), ["old"])])
    assert_frame_equal(table_store.scan(Attempts).collect(), expected)
    assert_frame_equal(table_store.scan(Attempts, [day()]).collect(), rows(Attempts, day(), ["new"]))


def test_hostile_rule_set_ids_survive_and_are_replaced(table_store: Tables) -> None:
    keys = [scored(rules) for rules in HOSTILE_RULES]
    table_store.replace(Scores, pl.concat(rows(Scores, key, ["old"]) for key in keys), keys)

    table_store.replace(Scores, pl.concat(rows(Scores, key, ["new"]) for key in keys), keys)

    assert sorted(table_store.scan(Scores).collect()["rules"]) == sorted(HOSTILE_RULES)
    for key in keys:
        assert_frame_equal(table_store.scan(Scores, [key]).collect(), rows(Scores, key, ["new"]))


def test_eight_processes_fill_a_table_that_did_not_exist(
    processes: ProcessPoolExecutor, s3_server: S3Server, s3_bucket: str
) -> None:
    different_days(processes, Place(f"s3://{s3_bucket}", s3_server.variables()))


def test_four_processes_overwrite_the_same_day(
    processes: ProcessPoolExecutor, s3_server: S3Server, s3_bucket: str
) -> None:
    same_day(processes, Place(f"s3://{s3_bucket}", s3_server.variables()), 4)


def test_upkeep_beside_writers(processes: ProcessPoolExecutor, s3_server: S3Server, s3_bucket: str) -> None:
    upkeep_beside_writers(processes, Place(f"s3://{s3_bucket}", s3_server.variables()))


def test_upkeep_deletes_what_nobody_needs_and_nothing_else(
    table_store: Tables, s3_server: S3Server, s3_bucket: str
) -> None:
    keys = [scored(rules) for rules in HOSTILE_RULES]
    for name in ("first", "second"):
        table_store.replace(Scores, pl.concat(rows(Scores, key, [name]) for key in keys), keys, {"run_id": name})
    s3_server.put(s3_bucket, "deep/tables/scores/crashed.parquet")
    before, noted = table_store.scan(Scores).collect(), dict(table_store.provenance(Scores))
    reader = table_store.scan(Scores, version=1)

    kept = maintain(table_store, Scores, timedelta(days=7))
    assert (kept.vacuumed, reader.collect().height) == (0, len(keys))
    moment = datetime.now(UTC)
    assert as_of(table_store, Scores, moment).version() == table_store.version(Scores)

    kept = maintain(table_store, Scores, -LONGEST_WRITE)
    assert kept.vacuumed == len(keys) + 1
    assert_frame_equal(table_store.scan(Scores).collect(), before)
    assert tables(table_store.url, s3_server.variables()).provenance(Scores) == noted
    assert LogFiles.of(table_store, Scores).commits.keys() == {table_store.version(Scores)}
    with pytest.raises(StoreUnavailableError, match="is no longer kept; the oldest moment is"):
        as_of(table_store, Scores, moment - timedelta(seconds=60))


def test_upkeep_needs_to_write(table_store: Tables, s3_server: S3Server) -> None:
    table_store.replace(Scores, rows(Scores, scored("v1"), ["a"]), [scored("v1")])

    with pytest.raises(StoreConfigurationError, match=r"scores: cannot .*credentials are refused"):
        maintain(tables(table_store.url, s3_server.variables("reader")), Scores, timedelta(days=7))


def test_objects_are_listed_with_what_the_store_knows(
    artifact_store: ArtifactStore, s3_server: S3Server, s3_bucket: str
) -> None:
    keys = ["worldseq/2026-11-29/a.json", "worldseq/2026-11-29/b/c.json", "worldseqx/no.json", *HOSTILE_KEYS]
    for key in keys:
        s3_server.put(s3_bucket, f"artifacts/{key}", key.encode())
    s3_server.put(s3_bucket, "artifacts/worldseq/2026-11-29/", b"")
    s3_server.put(s3_bucket, "elsewhere/worldseq/x.json")

    found = artifact_store.list_objects("worldseq")

    assert [info.key for info in found] == sorted(key for key in keys if key.startswith("worldseq/"))
    first = next(info for info in found if info.key == keys[0])
    assert first.uri == f"s3://{s3_bucket}/artifacts/{keys[0]}"
    assert (first.size_bytes, first.utf8) == (len(keys[0]), True)
    assert not first.etag.startswith('"')
    assert first.last_modified.tzinfo is UTC
    assert first.last_modified.year >= datetime.now(UTC).year - 1
    assert [outcome.content for outcome in artifact_store.fetch(found)] == [info.key.encode() for info in found]
    assert artifact_store.list_objects("worldse") == []
    assert artifact_store.list_objects("absent/") == []


def test_one_level_is_listed(artifact_store: ArtifactStore, s3_server: S3Server, s3_bucket: str) -> None:
    for key in ("worldseq/2026-11-29/a.json", "worldseq/2026-11-30/b.json", "worldseq/top.json"):
        s3_server.put(s3_bucket, f"artifacts/{key}")

    level = artifact_store.list_level("worldseq/")

    assert level.folders == ["2026-11-29", "2026-11-30"]
    assert [info.key for info in level.objects] == ["worldseq/top.json"]
    assert artifact_store.list_level().folders == ["worldseq"]


def test_a_listing_of_more_than_a_page_is_whole(s3_server: S3Server, s3_bucket: str) -> None:
    store = artifacts(f"s3://{s3_bucket}", s3_server.variables())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: s3_server.put(s3_bucket, f"{number:04d}.json", str(number).encode()), range(1001)))

    found = store.list_objects()

    assert [info.key for info in found] == [f"{number:04d}.json" for number in range(1001)]
    assert [outcome.content for outcome in store.fetch(found)] == [str(number).encode() for number in range(1001)]


def test_what_happens_to_one_object_does_not_stop_the_others(
    artifact_store: ArtifactStore, s3_server: S3Server, s3_bucket: str
) -> None:
    for key in ("changed", "gone", "large", "plain"):
        s3_server.put(s3_bucket, f"artifacts/{key}", b"12345")
    found = artifact_store.list_objects()
    s3_server.put(s3_bucket, "artifacts/changed", b"1234567")
    s3_server.put(s3_bucket, "artifacts/large", b"123456789")
    s3_server.client.delete_object(Bucket=s3_bucket, Key="artifacts/gone")

    outcomes = artifact_store.fetch(found, limit_bytes=8)

    url = f"s3://{s3_bucket}/artifacts"
    assert outcomes == [
        Fetched(f"{url}/changed", b"1234567"),
        Fetched(f"{url}/gone", None, "vanished", "NoSuchKey"),
        Fetched(f"{url}/large", None, "too_large", "9 bytes or more, the limit is 8"),
        Fetched(f"{url}/plain", b"12345"),
    ]


def every_use(url: str, variables: dict[str, str]) -> list[Callable[[], object]]:
    """What people do first with a store that may be wrong."""
    return [
        lambda: artifacts(url, variables).check(),
        lambda: artifacts(url, variables).list_objects("worldseq"),
        lambda: artifacts(url, variables).list_level("worldseq"),
        lambda: tables(url, variables).exists(Attempts),
        lambda: tables(url, variables).ensure([Attempts]),
        lambda: tables(url, variables).scan(Attempts),
        lambda: tables(url, variables).replace(Attempts, rows(Attempts, day(), ["a"]), [day()]),
    ]


def refused(use: Callable[[], object], kind: type[StoreError], told: str, variables: dict[str, str]) -> None:
    """`use` fails in one line of `kind` that says `told`, and shows no credential, not even in its traceback."""
    with pytest.raises(kind, match=told) as caught:
        use()
    assert "\n" not in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert variables["AWS_SECRET_ACCESS_KEY"] not in shown
    assert variables["AWS_ACCESS_KEY_ID"] not in shown


def test_wrong_credentials(s3_server: S3Server, s3_bucket: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for wrong in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"):
        variables = s3_server.variables() | {wrong: "wrong-0815"}
        for use in every_use(f"s3://{s3_bucket}/x", variables):
            refused(use, StoreConfigurationError, "the credentials are refused; check AWS_ACCESS_KEY_ID", variables)
    assert "wrong-0815" not in caplog.text
    assert "KeyCount" in s3_server.client.list_objects_v2(Bucket=s3_bucket)
    assert s3_server.client.list_objects_v2(Bucket=s3_bucket)["KeyCount"] == 0


def test_a_missing_bucket(s3_server: S3Server) -> None:
    variables = s3_server.variables()
    for use in every_use("s3://no-such-bucket/x", variables):
        refused(use, StoreConfigurationError, "the bucket does not exist; create it or correct the URL", variables)


def test_an_unreachable_endpoint(s3_server: S3Server) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
        variables = s3_server.variables() | {"AWS_ENDPOINT_URL": endpoint}
        for use in (every_use("s3://bucket/x", variables)[index] for index in (0, 1, 3)):
            refused(use, StoreUnavailableError, f"cannot reach {endpoint}; check AWS_ENDPOINT_URL", variables)


def test_credentials_that_may_only_read(s3_server: S3Server, table_store: Tables) -> None:
    table_store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    reader = tables(table_store.url, s3_server.variables("reader"))

    refused(
        lambda: reader.ensure([Scores]),
        StoreConfigurationError,
        "cannot create the table",
        s3_server.variables("reader"),
    )
    refused(
        lambda: reader.replace(Attempts, rows(Attempts, day(), ["b"]), [day()]),
        StoreConfigurationError,
        "cannot write: the credentials are refused",
        s3_server.variables("reader"),
    )
    refused(
        lambda: reader.replace(Attempts, rows(Attempts, day(), []), [day()]),
        StoreConfigurationError,
        "cannot commit: the credentials are refused",
        s3_server.variables("reader"),
    )

    assert reader.scan(Attempts).collect()["attempt_id"].to_list() == ["a"]


def test_no_credentials_at_all(s3_server: S3Server, s3_bucket: str) -> None:
    variables = {"AWS_ENDPOINT_URL": s3_server.endpoint, "AWS_REGION": "us-east-1"}

    with pytest.raises(StoreConfigurationError, match="no credentials were found; set AWS_ACCESS_KEY_ID"):
        artifacts(f"s3://{s3_bucket}", variables).check()
