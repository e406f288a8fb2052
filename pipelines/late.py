"""Late and corrected artifacts: the days whose listing is not what was landed, or whose landed bytes are not decoded.

Here: comparing a listing with what is stored, and the decision which days are to be landed again. Not here: the sensor
that asks for their runs (`sensors`), landing itself. A listing that fails raises: it is never an empty one.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

import dagster as dg
import polars as pl

from assets.attempts.assets import LAYER
from assets.attempts.inputs import fingerprints
from assets.contract import empty, table_name
from assets.fingerprint import fingerprint
from assets.landing.contract import RawArtifacts
from assets.landing.land import Intake, Store, listing, manifest
from assets.landing.manifest import gone
from pipelines import staleness
from pipelines.storage.tables import Tables

OBJECT = ("uri", "etag", "size_bytes")


class Day(NamedTuple):
    """A landing day as it is listed now, and what of it is not stored so."""

    day: str
    state: str  # digest of its objects, and of what every day is decoded with
    arrived: int = 0  # objects that are new, or other than what was landed
    vanished: int = 0  # objects that are no longer listed
    undecoded: bool = False  # landed, and not decoded from what was landed

    @property
    def stored(self) -> bool:
        """Whether the tables are of this listing."""
        return not (self.arrived or self.vanished or self.undecoded)


class Look(NamedTuple):
    """The days that were looked at, and a digest of everything that was listed, and how it would be decoded."""

    days: list[Day]
    digest: str


class Decision(NamedTuple):
    """The days to land again, each with the state that it is to be brought to, and what the next look may pass over."""

    land: dict[str, str]
    cursor: str


def decide(found: Look) -> Decision:
    """What to land; the cursor is the digest once every day is stored.

    Not of each day for itself: what lands on one day may change what another is decoded from.
    """
    land = {one.day: one.state for one in found.days if not one.stored}
    return Decision(land, "" if land else found.digest)


def look(
    store: Store,
    tables: Tables,
    intake: Intake,
    specs: Sequence[dg.AssetSpec],
    window: Sequence[dt.date],
    cursor: str,
) -> Look:
    """Every day of the window, and of what lands with every day, as it is listed now.

    Where all that is listed is what the cursor says, it was found stored before, and the tables are not asked.

    Raises:
        StoreError: the artifacts cannot be listed, or the tables not be read.
    """
    wanted = intake.of(window)
    listed = listing(store, wanted)
    versions = {spec.key.to_user_string(): spec.code_version for spec in specs}
    decoders = [versions[table_name(contract)] for contract in LAYER]
    digest = _digest(listed, list(intake.limits), decoders, [day.isoformat() for day in window])
    if digest == cursor:
        return Look([], digest)
    there = tables.exists(RawArtifacts)
    held = manifest(tables, window, wanted.patterns) if there else empty(RawArtifacts)
    days = sorted({*window, *listed["landed_on"], *held["landed_on"]})
    inputs = fingerprints(tables, days, intake.limits) if there else {}
    undecoded = staleness.undecoded_days(tables, specs, inputs)
    accompanying = pl.col("source").is_in([where.source for where in wanted.patterns if where.every_day])

    def found(day: dt.date) -> Day:
        of_day = pl.col("landed_on") == day
        listed_then, held_then = listed.filter(of_day), held.filter(of_day)
        # What could not be had is tried again by the next run of its day, not by one of its own at every look.
        known = held_then.filter(~pl.col("vanished"))
        return Day(
            day.isoformat(),
            _digest(listed.filter(of_day | accompanying)),
            arrived=listed_then.join(known, on=OBJECT, how="anti").height,
            vanished=gone(listed_then, held_then).height,
            undecoded=day in undecoded and not held_then.is_empty(),
        )

    return Look([found(day) for day in days], digest)


def _digest(listed: pl.DataFrame, *beside: object) -> str:
    return fingerprint([listed.sort("uri").select(OBJECT).rows(), *beside])
