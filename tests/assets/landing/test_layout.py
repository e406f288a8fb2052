"""Layout: which source and landing day a key belongs to."""

import datetime as dt

import polars as pl
import pytest

from assets.landing.layout import LISTING_SCHEMA, READS, pattern, place

FIRST, LAST = dt.date(2020, 1, 1), dt.date(2026, 11, 30)
MODIFIED = dt.datetime(2026, 11, 5, 23, 59, tzinfo=dt.UTC)


def placed(key: str, text: str | None = None, *, utf8: bool = True, reads: tuple[str, ...] = READS) -> pl.DataFrame:
    row = {
        "uri": [f"/store/{key}"],
        "key": [key],
        "etag": ["e"],
        "size_bytes": [1],
        "modified_us": [round(MODIFIED.timestamp() * 1e6)],
        "utf8": [utf8],
    }
    return place(pl.DataFrame(row, schema=LISTING_SCHEMA), pattern("worldseq", text, reads), FIRST, LAST)


@pytest.mark.parametrize("key", ["worldseq/2026-11-29/a.json", "worldseq/2026-11-29/deep/er/a.jsonl"])
def test_the_date_in_the_path_is_the_landing_day(key: str) -> None:
    row = placed(key).row(0, named=True)
    assert (row["source"], row["landed_on"], row["fetch_reason"]) == ("worldseq", dt.date(2026, 11, 29), None)


@pytest.mark.parametrize(
    "key",
    [
        "worldseq/a.json",
        "worldseq/latest/a.json",
        "worldseq/2026-13-01/a.json",
        "worldseq/2026-02-30/a.json",
        "worldseq/2026-11-29x/a.json",
        "worldseq/20261129/a.json",
        "worldseq/2019-12-31/a.json",
        "worldseq/2026-12-01/a.json",
    ],
)
def test_a_key_under_no_valid_date_has_no_partition_and_stands_on_its_last_modified_day(key: str) -> None:
    row = placed(key).row(0, named=True)
    assert (row["landed_on"], row["fetch_reason"]) == (dt.date(2026, 11, 5), "no_partition")
    assert row["fetch_detail"].endswith("is no day from 2020-01-01 to 2026-11-30")


def test_a_name_that_is_not_utf8_has_no_partition() -> None:
    row = placed("worldseq/2026-11-29/a.json", utf8=False).row(0, named=True)
    assert (row["fetch_reason"], row["fetch_detail"]) == ("no_partition", "the name is not UTF-8")


@pytest.mark.parametrize("key", ["worldseq/2026-11-29/a.log", "worldseq/2026-11-29/a.json.gz", "worldseq/x/notes.txt"])
def test_other_objects_are_never_read(key: str) -> None:
    assert placed(key).is_empty()


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("worldseq/2026-11-29/job/trial/result.json", True),
        ("worldseq/2026-11-29/result.json", True),
        ("worldseq/2026-11-29/job/trial/my-result.json", False),
        ("worldseq/2026-11-29/job/trial/verifier/reward.txt", True),
        ("worldseq/2026-11-29/job/trial/reward.txt", False),
        ("worldseq/2026-11-29/job/trial/agent/trajectory.json", False),
    ],
)
def test_a_source_may_name_the_files_that_are_read(key: str, read: bool) -> None:
    assert placed(key, reads=("/result.json", "/verifier/reward.txt")).height == read


@pytest.mark.parametrize(
    ("key", "text", "path"),
    [
        ("worldseq/2026-11-29/job/trial/result.json", None, "job/trial/result.json"),
        ("worldseq/2026-11-29/2026-11-29/a.json", None, "2026-11-29/a.json"),
        ("team/2026-11-01/jobs/a.json", "team/{date}/jobs/", "a.json"),
        ("uploads/2026-11-29/a.json", "uploads", "2026-11-29/a.json"),
        ("worldseq/latest/a.json", None, "latest/a.json"),
    ],
)
def test_the_path_is_the_key_below_the_folder_of_the_day(key: str, text: str | None, path: str) -> None:
    assert placed(key, text)["path"].to_list() == [path]


def test_a_pattern_without_a_date_goes_by_the_last_modification() -> None:
    row = placed("uploads/a.json", "uploads").row(0, named=True)
    assert (row["landed_on"], row["fetch_reason"]) == (dt.date(2026, 11, 5), None)


def test_the_date_may_stand_anywhere_in_the_pattern() -> None:
    assert placed("team/2026-11-01/worldseq/a.json", "team/{date}/").row(0, named=True)["landed_on"].day == 1


@pytest.mark.parametrize("text", ["a/{date}/{date}", "a/run-{date}/"])
def test_a_pattern_that_cannot_be_listed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="path pattern of worldseq"):
        pattern("worldseq", text)
