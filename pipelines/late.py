"""Late and corrected artifacts: the days whose listing is not what was landed, or whose landed bytes are not decoded.

Here: comparing a listing with what is stored, and the decision which days are to be landed again. Not here: the sensor
that asks for their runs (`sensors`), landing itself. A listing that fails raises: it is never an empty one.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dagster as dg
import polars as pl

from assets.attempts.assets import LAYER
from assets.attempts.decoding import fingerprints
from assets.contract import empty
from assets.landing.contract import RawArtifacts
from assets.landing.land import Intake, Store, listing, manifest
from assets.landing.manifest import gone
from pipelines import staleness
from pipelines.storage.tables import Tables

DIGITS = 16
OBJECT = ("uri", "etag", "size_bytes")


class Day(NamedTuple):
    """A landing day as it is listed now, and what of it is not stored so."""

    day: str
    listing: str  # digest of its objects
    arrived: int = 0  # objects that are new, or other than what was landed
    vanished: int = 0  # objects that are no longer listed
    undecoded: bool = False  # landed, and not decoded from what was landed

    @property
    def stored(self) -> bool:
        """Whether the tables are of this listing."""
        return not (self.arrived or self.vanished or self.undecoded)


class Decision(NamedTuple):
    """The days to land again, each with the state that it is to be brought to, and what need not be looked at again."""

    land: dict[str, str]
    cursor: dict[str, str]


def decide(days: Sequence[Day]) -> Decision:
    """What to land; the cursor keeps the listings that were found stored, of the days that were looked at."""
    return Decision(
        {one.day: one.listing for one in days if not one.stored}, {one.day: one.listing for one in days if one.stored}
    )


def look(
    store: Store,
    tables: Tables,
    intake: Intake,
    specs: Sequence[dg.AssetSpec],
    window: Sequence[dt.date],
    cursor: Mapping[str, str],
) -> list[Day]:
    """Every day of the window, and of what lands with every day, as it is listed now.

    A day whose listing is that of the cursor was found stored before, and the tables are not asked about it.

    Raises:
        StoreError: the artifacts cannot be listed, or the tables not be read.
    """
    wanted = intake.of(window)
    listed = listing(store, wanted)
    days = sorted({*window, *listed["landed_on"]})
    digests = {day: _digest(listed.filter(pl.col("landed_on") == day)) for day in days}
    unsure = [day for day in days if cursor.get(day.isoformat()) != digests[day]]
    found = {day: Day(day.isoformat(), digests[day]) for day in days}
    if unsure:
        there = tables.exists(RawArtifacts)
        held = manifest(tables, unsure, wanted.patterns) if there else empty(RawArtifacts)
        inputs = fingerprints(tables, unsure, intake.limits) if there else {}
        undecoded = staleness.undecoded(tables, specs, LAYER, inputs)
        for day in unsure:
            of_day = pl.col("landed_on") == day
            listed_then, held_then = listed.filter(of_day), held.filter(of_day)
            # What could not be had is tried again by the next run of its day, not by one of its own at every look.
            known = held_then.filter(~pl.col("vanished"))
            found[day] = found[day]._replace(
                arrived=listed_then.join(known, on=OBJECT, how="anti").height,
                vanished=gone(listed_then, held_then).height,
                undecoded=day in undecoded and not held_then.is_empty(),
            )
    return list(found.values())


def _digest(listed: pl.DataFrame) -> str:
    objects = listed.sort("uri").select(OBJECT).rows()
    return hashlib.sha256(json.dumps(objects).encode()).hexdigest()[:DIGITS]
