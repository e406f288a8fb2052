"""The manifest diff: exactly what is new, changed, back or worth another try is fetched."""

import datetime as dt

import polars as pl
import pytest

from assets.contract import schema
from assets.landing.contract import RawArtifacts
from assets.landing.manifest import MANIFEST_COLUMNS, batches, gone, latest, to_fetch

DAY = dt.date(2026, 11, 29)
NOON = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def listed(*objects: tuple[str, str], size: int = 10, day: dt.date = DAY) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"uri": uri, "etag": etag, "size_bytes": size, "landed_on": day, "fetch_reason": None}
            for uri, etag in objects
        ],
        schema={
            "uri": pl.String,
            "etag": pl.String,
            "size_bytes": pl.Int64,
            "landed_on": pl.Date,
            "fetch_reason": pl.String,
        },
        orient="row",
    )


def held(uri: str, etag: str, **changes: object) -> pl.DataFrame:
    row = {
        "uri": uri,
        "source": "worldseq",
        "landed_on": DAY,
        "batch": "b",
        "etag": etag,
        "size_bytes": 10,
        "last_modified": NOON,
        "ingested_at": NOON,
        "vanished": False,
        "fetch_reason": None,
        **changes,
    }
    return pl.DataFrame([row], schema={name: schema(RawArtifacts)[name] for name in MANIFEST_COLUMNS})


@pytest.mark.parametrize(
    ("current", "fetched"),
    [
        (held("a", "1"), []),
        (held("b", "1"), ["a"]),
        (held("a", "0"), ["a"]),
        (held("a", "1", size_bytes=9), ["a"]),
        (held("a", "1", vanished=True), ["a"]),
        (held("a", "1", fetch_reason="too_large"), ["a"]),
        (held("a", "1", fetch_reason="no_partition"), ["a"]),
        (held("a", "1", fetch_reason="forbidden"), ["a"]),
        (held("a", "1", fetch_reason="vanished"), ["a"]),
        (held("a", "1", landed_on=dt.date(2026, 11, 28)), ["a"]),
    ],
)
def test_what_is_fetched(current: pl.DataFrame, fetched: list[str]) -> None:
    assert to_fetch(listed(("a", "1")), current)["uri"].to_list() == fetched


@pytest.mark.parametrize(("before", "fetched"), [("too_large", []), ("no_partition", ["a"]), ("vanished", ["a"])])
def test_what_is_refused_for_the_same_reason_is_not_tried_again(before: str, fetched: list[str]) -> None:
    refused = listed(("a", "1")).with_columns(fetch_reason=pl.lit("too_large"))
    assert to_fetch(refused, held("a", "1", fetch_reason=before))["uri"].to_list() == fetched


def test_what_is_no_longer_listed_is_gone_once() -> None:
    current = pl.concat([held("a", "1"), held("b", "1"), held("c", "1", vanished=True)])
    assert gone(listed(("a", "1")), current)["uri"].to_list() == ["b"]


def test_the_latest_row_of_a_uri_is_current() -> None:
    later = NOON + dt.timedelta(days=1)
    rows = pl.concat([held("a", "2", ingested_at=later), held("a", "1"), held("b", "1")])
    assert dict(latest(rows.lazy()).collect().select("uri", "etag").iter_rows()) == {"a": "2", "b": "1"}


def test_batches_are_cut_by_bytes_and_keep_every_object() -> None:
    objects = listed(*((f"{number:03}", "1") for number in range(100)), size=10)
    cut = batches(objects, max_bytes=95)
    assert all(batch.objects["size_bytes"].sum() <= 100 for batch in cut)
    assert [uri for batch in cut for uri in batch.objects["uri"]] == objects["uri"].to_list()


def test_batches_do_not_depend_on_the_order_of_the_listing() -> None:
    objects = listed(*((f"{number:03}", "1") for number in range(100)))
    ids = [batch.id for batch in batches(objects, 95)]
    assert [batch.id for batch in batches(objects.reverse(), 95)] == ids
    assert len(set(ids)) == len(ids)


def test_a_batch_id_follows_from_uris_and_etags() -> None:
    one, other = listed(("ab", "c")), listed(("a", "bc"))
    assert batches(one, 100)[0].id != batches(other, 100)[0].id


def test_an_object_larger_than_a_batch_is_landed_too() -> None:
    assert [batch.objects.height for batch in batches(listed(("a", "1"), ("b", "1"), size=1000), 10)] == [1, 1]


def test_nothing_to_land_is_no_batch() -> None:
    assert batches(listed(), 10) == []
