"""Merging batches: what is current of an object, and its history, are the same afterwards."""

import datetime as dt
import itertools
import random

import polars as pl
import pytest

from assets.contract import schema
from assets.landing.contract import RawArtifacts
from assets.landing.manifest import batch_id, latest
from assets.landing.merging import ARRIVALS, REST, merged

DAY = dt.date(2026, 11, 29)
NOON = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
LATER = NOON + dt.timedelta(days=30)
MANY = 10**9

Row = tuple[str, str, int, dt.timedelta]
"""An object, its batch, its size, and how long after noon it arrived; one of no size vanished."""


def arrivals(*rows: Row) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "uri": uri,
                "landed_on": DAY,
                "batch": batch,
                "etag": f"{uri}{number}",
                "size_bytes": size,
                "sha256": "content" if size else None,
                "ingested_at": NOON + later,
                "source": "worldseq",
                "last_modified": NOON,
                "vanished": not size,
            }
            for number, (uri, batch, size, later) in enumerate(rows)
        ],
        schema=schema(RawArtifacts),
    )


def together(frame: pl.DataFrame, now: dt.datetime = LATER, most: int = MANY, objects: int = MANY) -> list[list[str]]:
    return [one.batches for one in merged(frame.select(ARRIVALS), now, most, objects)]


def hours(count: float) -> dt.timedelta:
    return dt.timedelta(hours=count)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([("a", "1", 5, hours(0))], []),
        ([("a", "2", 5, hours(0)), ("b", "1", 5, hours(1)), ("c", "3", 5, hours(2))], [["2", "1", "3"]]),
        # A changed object, one that vanished, and one that came back, begin a batch of their own.
        ([("a", "1", 5, hours(0)), ("b", "2", 5, hours(1)), ("a", "3", 5, hours(2))], [["1", "2"]]),
        ([("a", "1", 5, hours(0)), ("a", "2", 0, hours(1)), ("b", "3", 5, hours(2))], [["2", "3"]]),
        # Of two arrivals at the same moment the name of the batch decides which is current: it stays.
        (
            [("a", "1", 5, hours(0)), ("a", "2", 5, hours(0)), ("b", "3", 5, hours(1)), ("c", "4", 5, hours(2))],
            [["3", "4"]],
        ),
    ],
)
def test_what_belongs_together(rows: list[Row], expected: list[list[str]]) -> None:
    assert together(arrivals(*rows)) == expected


def test_limits_hold() -> None:
    frame = arrivals(*((str(n), str(n), 10, hours(n)) for n in range(7)))
    assert together(frame, most=30) == [["0", "1", "2"], ["3", "4", "5"]]
    assert together(frame, objects=2) == [["0", "1"], ["2", "3"], ["4", "5"]]
    assert together(frame, most=19) == []
    full = arrivals(("a", "1", 16, hours(0)), ("b", "2", 1, hours(1)), ("c", "3", 1, hours(2)))
    assert together(full, most=30) == [["2", "3"]]  # what is half full is not written again for a crumb
    assert together(frame, now=NOON + hours(3) + REST) == [["0", "1", "2"]]


def test_what_is_current_and_every_history_are_the_same_whatever_arrives() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        rows: list[Row] = []
        for batch in range(rng.randint(2, 12)):
            moment, name = hours(rng.randint(0, 6)), f"{rng.random()}"
            uris = rng.sample("abcdefgh", rng.randint(1, 4))
            rows += [(uri, f"{name}-{batch}", rng.choice([0, 5, 9]), moment) for uri in uris]
        before = arrivals(*rows)
        renamed = {batch: one.id for one in merged(before.select(ARRIVALS), LATER, 40) for batch in one.batches}

        after = before.with_columns(pl.col("batch").replace(renamed))

        assert not after.select("uri", "batch").is_duplicated().any()
        kept = [column for column in schema(RawArtifacts) if column != "batch"]
        current = [latest(frame.lazy()).select(kept).sort("uri").collect() for frame in (before, after)]
        assert current[0].equals(current[1])
        assert len(set(renamed.values()) & set(before["batch"])) == 0


def test_the_id_depends_on_the_objects_and_is_never_one_of_a_landing() -> None:
    objects = [("a", "1", 5, hours(0)), ("b", "2", 5, hours(1))]
    frames = [arrivals(*rows).with_columns(etag=pl.lit("x")) for rows in itertools.permutations(objects)]
    ids = {one.id for frame in frames for one in merged(frame.select(ARRIVALS), LATER, MANY)}
    assert len(ids) == 1
    assert ids != {batch_id(frames[0].sort("uri"))}
