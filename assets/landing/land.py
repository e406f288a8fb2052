"""Landing: listing, manifest diff, bytes. Incremental, in batches, in bounded memory.

Here: the pass over the store that keeps `raw_artifacts` up to date. Not here: how a store is listed and fetched (its
class), how a table is written (its class), and what the bytes mean (the sources).
"""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import polars as pl

from assets.ahead import ahead
from assets.contract import Contract, schema
from assets.landing.contract import RawArtifacts
from assets.landing.layout import LISTING_SCHEMA, Pattern, place
from assets.landing.manifest import MANIFEST_COLUMNS, Batch, batch_id, batches, gone, latest, to_fetch
from assets.sources.documents import Limits

TOO_LARGE = "too_large"

BATCHES_AT_ONCE = 2
"""One is fetched while another is compressed and written; both are in memory."""


class Level(Protocol):
    """What stands directly below a folder."""

    @property
    def folders(self) -> Sequence[str]:
        """Names of the folders."""

    @property
    def objects(self) -> Sequence[Any]:
        """The objects."""


class Store(Protocol):
    """What landing needs of an artifact store; a failed listing raises, it is never an empty one."""

    def list_level(self, prefix: str) -> Level:
        """Folders and objects directly below `prefix`."""

    def list_objects(self, prefix: str) -> Sequence[Any]:
        """Every object below `prefix`: uri, key, etag, size_bytes, modified_us, utf8."""

    def fetch(self, objects: Sequence[Any], limit_bytes: int | None = None) -> Sequence[Any]:
        """The bytes of each object, or the reason why not: uri, content, reason, detail."""


class TableStore(Protocol):
    """What landing needs of the tables."""

    def uri(self, contract: type[Contract]) -> str:
        """Where the table is."""

    def version(self, contract: type[Contract]) -> int:
        """The table's newest version."""

    def scan(
        self,
        contract: type[Contract],
        keys: Sequence[Mapping[str, object]] | None = None,
        version: int | None = None,
    ) -> pl.LazyFrame:
        """A snapshot of the table, the newest or that version."""

    def provenance(self, contract: type[Contract]) -> Mapping[tuple[str, ...], Any]:
        """What the newest commit of each partition notes; rows that are scanned after this are not older."""

    def rows(self, contract: type[Contract]) -> Mapping[tuple[str, ...], int]:
        """The number of rows of each partition that has files."""

    def replace(
        self,
        contract: type[Contract],
        frame: pl.DataFrame,
        keys: Sequence[Mapping[str, object]],
        metadata: Mapping[str, str] | None = None,
    ) -> Any:
        """Replace exactly `keys` in one commit."""


class Progress(Protocol):
    """Told how far a stage is."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` units of `stage`."""


class Pass(NamedTuple):
    """One landing pass: which patterns and days, under which limits, and when."""

    patterns: Sequence[Pattern]
    days: Sequence[dt.date]
    first_day: dt.date
    now: dt.datetime
    max_object_bytes: int
    batch_bytes: int


@dataclass(frozen=True)
class Intake:
    """How artifacts are taken in: where each source is, the limits, the clock, and whom to tell of progress."""

    patterns: Sequence[Pattern]
    first_day: dt.date
    max_object_bytes: int = 64 * 2**20
    batch_bytes: int = 32 * 2**20
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)
    progress: Progress | None = None

    def of(self, days: Sequence[dt.date]) -> Pass:
        """A landing pass over these days, now."""
        return Pass(self.patterns, days, self.first_day, self.clock(), self.max_object_bytes, self.batch_bytes)


class Landed(NamedTuple):
    """What a landing pass did."""

    listed: int
    fetched: int
    unchanged: int
    vanished: int
    unfetched: int
    bytes_fetched: int
    batches: int
    newest_modified: dt.datetime | None  # of what is listed
    lag_seconds: float | None  # from then to this pass


def listing(store: Store, wanted: Pass) -> pl.DataFrame:
    """Every object of the wanted days that is read, with its source and landing day, in order of uri.

    Of a dated pattern the folders of the days are listed, and whatever stands beside them under no date; of one that
    lands with every day all its objects, whatever day they are of.
    """
    found = []
    dates = {day.isoformat() for day in wanted.days}
    for where in wanted.patterns:
        partitions, objects = _top(store, where, wanted)
        for folder in sorted(partitions & dates):
            objects += store.list_objects(f"{where.prefix}{folder}/")
        placed = _placed(objects, where, wanted)
        found.append(placed if where.every_day else placed.filter(pl.col("landed_on").is_in(list(wanted.days))))
    return pl.concat(found)


def days_in_store(store: Store, wanted: Pass) -> list[dt.date]:
    """Every day that the store has objects for: day folders by name, whatever else by its last modification."""
    days: set[dt.date] = set()
    for where in wanted.patterns:
        partitions, elsewhere = _top(store, where, wanted)
        days |= {dt.date.fromisoformat(folder) for folder in partitions}
        days |= set(_placed(elsewhere, where, wanted)["landed_on"])
    return sorted(days)


def _top(store: Store, where: Pattern, wanted: Pass) -> tuple[set[str], list[Any]]:
    """The folders of a pattern that are valid days, and every object beside them: no day would ever list those."""
    if not where.dated:
        return set(), list(store.list_objects(where.prefix))
    level = store.list_level(where.prefix)
    partitions = {folder for folder in level.folders if _is_partition(folder, wanted)}
    elsewhere = list(level.objects)
    for folder in level.folders:
        if folder not in partitions:
            elsewhere += store.list_objects(f"{where.prefix}{folder}/")
    return partitions, elsewhere


def _placed(objects: Sequence[Any], where: Pattern, wanted: Pass) -> pl.DataFrame:
    columns: Sequence[Sequence[Any]] = list(zip(*objects, strict=True)) or [()] * len(LISTING_SCHEMA)
    frame = pl.DataFrame(dict(zip(LISTING_SCHEMA, columns, strict=True)), schema=LISTING_SCHEMA)
    return _limited(place(frame, where, wanted.first_day, wanted.now.date()), wanted.max_object_bytes)


def _limited(placed: pl.DataFrame, most: int) -> pl.DataFrame:
    """What is larger than the limit is known from the listing, and not fetched."""
    beyond = pl.when(pl.col("fetch_reason").is_null() & (pl.col("size_bytes") > most))
    told = pl.format("{} bytes; at most {} are read", "size_bytes", pl.lit(most))
    return placed.with_columns(
        fetch_reason=beyond.then(pl.lit(TOO_LARGE)).otherwise("fetch_reason"),
        fetch_detail=beyond.then(told).otherwise("fetch_detail"),
    )


def _is_partition(folder: str, wanted: Pass) -> bool:
    try:
        day = dt.date.fromisoformat(folder)
    except ValueError:
        return False
    return folder == day.isoformat() and wanted.first_day <= day <= wanted.now.date()


def manifest(tables: TableStore, days: Iterable[dt.date], patterns: Iterable[Pattern]) -> pl.DataFrame:
    """What `raw_artifacts` holds of these patterns and days: the latest row of each uri, without the content."""
    always = {where.source: where.every_day for where in patterns}
    of_any_day = pl.col("source").is_in([source for source, every in always.items() if every])
    held = tables.scan(RawArtifacts).filter(
        pl.col("source").is_in(list(always)), of_any_day | pl.col("landed_on").is_in(list(days))
    )
    return latest(held.select(MANIFEST_COLUMNS)).collect(engine="streaming")


class Difference(NamedTuple):
    """A listing against the manifest."""

    listed: pl.DataFrame
    fetch: pl.DataFrame
    gone: pl.DataFrame
    held_at: dt.datetime | None  # the latest time at which anything of the manifest was landed


def difference(store: Store, tables: TableStore, wanted: Pass) -> Difference:
    """What has to be fetched and what vanished; reads no artifact."""
    listed = listing(store, wanted)
    held = manifest(tables, wanted.days, wanted.patterns)
    held_at: Any = held["ingested_at"].max()
    return Difference(listed, to_fetch(listed, held), gone(listed, held), held_at)


def land(
    store: Store, tables: TableStore, wanted: Pass, metadata: Mapping[str, str], progress: Progress | None = None
) -> Landed:
    """Bring `raw_artifacts` up to date for the wanted days: one commit per batch, replacing exactly that batch.

    Raises:
        StoreError: listing or fetching failed for good; the batches committed until then stay.
    """
    listed, fetch, vanished, held_at = difference(store, tables, wanted)
    # What is landed later is current, also where the clock of an earlier host was ahead of this one's.
    at = wanted.now if held_at is None else max(wanted.now, held_at + dt.timedelta(microseconds=1))
    work = batches(fetch, wanted.batch_bytes)
    newest: Any = listed["last_modified"].max()
    done = fetched = bytes_fetched = 0

    def land_batch(batch: Batch) -> pl.DataFrame:
        rows = rows_of(store, batch, wanted._replace(now=at))
        _write(tables, rows, metadata)
        return rows.select("size_bytes", had=pl.col("content").is_not_null())

    for rows in ahead(land_batch, work, at_once=BATCHES_AT_ONCE):
        done += rows.height
        fetched += int(rows["had"].sum())
        bytes_fetched += int(rows.filter("had")["size_bytes"].sum())
        if progress:
            progress("landing", done, fetch.height)
    if not vanished.is_empty():
        _write(tables, _vanished_rows(vanished, at), metadata)
    return Landed(
        listed=listed.height,
        fetched=fetched,
        unchanged=listed.height - fetch.height,
        vanished=vanished.height,
        unfetched=done - fetched,
        bytes_fetched=bytes_fetched,
        batches=len(work),
        newest_modified=newest,
        lag_seconds=round((wanted.now - newest).total_seconds(), 3) if newest else None,
    )


def rows_of(store: Store, batch: Batch, wanted: Pass) -> pl.DataFrame:
    """The rows of `raw_artifacts` that one batch becomes: content, or the reason why there is none."""
    placed = batch.objects
    readable = placed["fetch_reason"].is_null()
    answers = iter(store.fetch(_objects(placed.filter(readable)), wanted.max_object_bytes))
    got = [next(answers) if is_readable else None for is_readable in readable]
    contents = [one and one.content for one in got]
    digests = [None if content is None else hashlib.sha256(content).hexdigest() for content in contents]
    return placed.with_columns(
        pl.Series("content", contents, dtype=pl.Binary),
        pl.Series("sha256", digests, dtype=pl.String),
        batch=pl.lit(batch.id),
        ingested_at=pl.lit(wanted.now).cast(pl.Datetime("us", "UTC")),
        vanished=pl.lit(value=False),
        fetch_reason=pl.coalesce("fetch_reason", pl.Series([one and one.reason for one in got], dtype=pl.String)),
        fetch_detail=pl.coalesce("fetch_detail", pl.Series([one and one.detail for one in got], dtype=pl.String)),
    ).select(list(schema(RawArtifacts)))


def _objects(frame: pl.DataFrame) -> list[Any]:
    return [Listed(*row) for row in frame.select(list(LISTING_SCHEMA)).iter_rows()]


class Listed(NamedTuple):
    """One listed object, as a store's `fetch` takes it back."""

    uri: str
    key: str
    etag: str
    size_bytes: int
    modified_us: int
    utf8: bool


def _vanished_rows(vanished: pl.DataFrame, at: dt.datetime) -> pl.DataFrame:
    ordered = vanished.sort("landed_on", "uri")
    nulls = {name: pl.lit(None, dtype) for name, dtype in schema(RawArtifacts).items()}
    return ordered.with_columns(
        batch=pl.lit(batch_id(ordered, f"vanished {at.isoformat()}")),
        ingested_at=pl.lit(at).cast(pl.Datetime("us", "UTC")),
        vanished=pl.lit(value=True),
        **{name: nulls[name] for name in ("sha256", "content", "fetch_reason", "fetch_detail")},
    ).select(list(schema(RawArtifacts)))


def _write(tables: TableStore, rows: pl.DataFrame, metadata: Mapping[str, str]) -> None:
    keys = rows.select("landed_on", "batch").unique().sort("landed_on", "batch")
    tables.replace(RawArtifacts, rows, keys.to_dicts(), metadata)
