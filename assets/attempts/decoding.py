"""From the stored bytes of some days to the tables of the attempts layer and the quarantine.

Here: decoding them batch by batch, and one winner per attempt and day. Not here: which bytes those are (`inputs`), what
a document says (the sources), which of two documents wins (`precedence`), and where frames wait in between (a spool).
No object storage is read: a day is decoded again from `raw_artifacts` alone.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import polars as pl

from assets.ahead import ahead
from assets.attempts.contract import PARTS, Attempts, BenchmarkRuns, Observations, RecordedValues
from assets.attempts.inputs import DOCUMENT, PLACE, companions_of, current
from assets.attempts.precedence import Resolution, enclosed, flagged, resolve
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import Contract, empty, schema, table_name, to_contract
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.land import Progress, TableStore
from assets.sources.documents import CANDIDATES, SIDE_FILES, Document, Limits
from assets.sources.documents import Decoded as Read
from assets.sources.registry import SOURCES, Source

RUN = ["source", "landed_on", "run_id"]

NUMBERS_PER_BATCH = 2**32
"""Documents are numbered across a run without a batch knowing of the others."""


class Spool(Protocol):
    """Where frames wait outside memory until every document of the run is decoded."""

    def write(self, name: str, part: str, frame: pl.DataFrame) -> None:
        """Keep a frame as one part of those of that name; parts are read in their order."""

    def scan(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """All parts of that name in their order; `schema` where there is none."""


class Decoded(NamedTuple):
    """The layer's tables for the decoded days, each still to be executed, and what became of the documents."""

    tables: dict[str, pl.LazyFrame]
    documents: int
    identical_copies: int
    quarantined: dict[str, int]

    def metadata(self, name: str) -> dict[str, int]:
        """What the UI shows beside the table `name`."""
        told: dict[str, int] = {}
        if name == table_name(Quarantine):
            told |= {f"quarantined/{reason}": count for reason, count in self.quarantined.items()}
        if name == table_name(Attempts):
            told |= {
                "documents": self.documents,
                "identical_copies": self.identical_copies,
                "quarantined": sum(self.quarantined.values()),
            }
        return told


def unfetched(rows: pl.DataFrame) -> pl.DataFrame:
    """Quarantine rows of the objects that could not be had."""
    return rows.filter(pl.col("fetch_reason").is_not_null()).select(
        "uri",
        "source",
        "landed_on",
        stage=pl.lit("fetch"),
        reason="fetch_reason",
        path=pl.lit(None, pl.String),
        detail="fetch_detail",
        sha256="sha256",
        attempt_id=pl.lit(None, pl.String),
    )


class Part(NamedTuple):
    """What one landed batch came to, or several; the frames are in the spool."""

    documents: int
    candidates: list[pl.DataFrame]
    side_files: list[pl.DataFrame]
    quarantine: list[pl.DataFrame]

    def with_(self, other: "Part") -> "Part":
        """Both together."""
        return Part(
            self.documents + other.documents,
            self.candidates + other.candidates,
            self.side_files + other.side_files,
            self.quarantine + other.quarantine,
        )


def read_batch(tables: TableStore, version: int, rows: pl.DataFrame) -> list[Document]:
    """The given rows of one landed batch of that version, with their bytes."""
    key = rows.select("landed_on", "batch").row(0, named=True)
    stored = tables.scan(RawArtifacts, [key], version).select(DOCUMENT).collect(engine="streaming")
    wanted = set(rows["uri"])
    return sorted((Document(*row) for row in stored.iter_rows() if row[0] in wanted), key=lambda one: one.uri)


def decode_batch(documents: Sequence[Document], number: int, limits: Limits, spool: Spool) -> Part:
    """Decode one batch: a function of the batch alone, so that any process may do it."""
    by_source: dict[str, list[Document]] = {}
    for document in documents:
        by_source.setdefault(document.source, []).append(document)
    part = Part(len(documents), [], [], [])
    next_document = number * NUMBERS_PER_BATCH
    for source, group in by_source.items():
        decoded = SOURCES[source].decode(group, limits, next_document)
        next_document = decoded.next_document
        _keep(decoded, f"{number:09d}-{source}", part, spool)
    return part


def _keep(decoded: Read, name: str, part: Part, spool: Spool) -> None:
    for table, frame in decoded.frames.items():
        spool.write(table, name, frame)
    part.candidates.append(decoded.candidates)
    part.side_files.append(decoded.side_files)
    part.quarantine.append(decoded.quarantine)


def assemble(source: Source, companions: pl.DataFrame, limits: Limits, spool: Spool, first: int) -> Read | None:
    """What the parts of all batches of one source, and of its companion, come to together; nothing without any."""
    if source.assemble is None:
        return None
    parts = {name: spool.scan(name, columns).collect(engine="streaming") for name, columns in source.parts.items()}
    if all(part.is_empty() for part in parts.values()):
        return None
    if source.companion:
        of_it = companions.filter(pl.col("source") == source.companion)
        decoded = SOURCES[source.companion].decode([Document(*row) for row in of_it.iter_rows()], limits, first)
        for name in SOURCES[source.companion].parts:
            beside = [parts[name]] if name in parts else []
            parts[name] = pl.concat([*beside, decoded.frames[name]])
    return source.assemble(parts, first)


def decode(
    tables: TableStore,
    days: Sequence[dt.date],
    limits: Limits,
    spool: Spool,
    progress: Progress | None = None,
) -> Decoded:
    """Decode every current document of these days.

    A document that cannot be decoded becomes a row of `quarantine`, and every other one goes on. Of several documents
    about one attempt on one day the winner is kept; see `precedence`.
    """
    version = tables.version(RawArtifacts)  # upkeep may merge batches meanwhile
    rows = current(tables, days, version).collect(engine="streaming")
    companions = companions_of(tables, rows["source"].unique()).collect(engine="streaming")
    refused = unfetched(rows)
    readable = rows.filter(pl.col("fetch_reason").is_null()).sort("landed_on", "batch", "uri")
    batches = readable.partition_by("landed_on", "batch", maintain_order=True)
    whole = Part(0, [], [], [refused])
    done = number = 0
    # Decoding holds the interpreter, so one thread does it; the next batch is read meanwhile.
    for number, documents in enumerate(ahead(partial(read_batch, tables, version), batches, at_once=1)):
        part = decode_batch(documents, number, limits, spool)
        whole = whole.with_(part)
        done += part.documents
        if progress:
            progress("decoding", done, readable.height)
    for later, (name, source) in enumerate(SOURCES.items(), start=number + 1):
        assembled = assemble(source, companions, limits, spool, later * NUMBERS_PER_BATCH)
        if assembled:
            _keep(assembled, f"{later:09d}-{name}", whole, spool)
    return _resolved(spool, whole, rows)


def _resolution(spool: Spool, told: pl.DataFrame, side_files: pl.DataFrame, vanished: pl.DataFrame) -> Resolution:
    """Winners and losers of every source, each by its own precedence."""
    contested = told.filter(pl.struct("landed_on", "attempt_id").is_duplicated()).lazy().select("document")
    figures = _scan(spool, RecordedValues).join(contested, on="document", how="semi").collect(engine="streaming")
    of = pl.col("source")
    each = []
    for name, source in SOURCES.items():
        mine, refused = told.filter(of == name), empty(Quarantine)
        if source.encloses:
            mine, refused = enclosed(mine)
        found = resolve(mine, figures, side_files.filter(of == name), source.precedence, vanished)
        each.append(found._replace(quarantine=pl.concat([found.quarantine, refused])))
    return Resolution(*(pl.concat(frames) for frames in zip(*each, strict=True)))


def _resolved(spool: Spool, whole: Part, rows: pl.DataFrame) -> Decoded:
    """The tables that the winners leave, and the quarantine with the losers."""
    told = _stacked(whole.candidates, CANDIDATES)
    vanished = rows.filter("vanished").select(PLACE)
    resolution = _resolution(spool, told, _stacked(whole.side_files, SIDE_FILES), vanished)
    winners = resolution.winners
    # Where every document won, which is most days, nothing has to be looked up per row.
    unanimous = winners.height == told["attempt_id"].is_not_null().sum()
    tables = {}
    decoded: tuple[type[Contract], ...] = (*PARTS, CampaignRegistrations)
    for contract in decoded:
        frame = _scan(spool, contract)
        if contract is RecordedValues:
            frame = frame.drop("attempt_id").join(resolution.recorded.lazy(), on="document")
        elif contract is Attempts:
            frame = frame.drop("vanished", "identical_copies").join(winners.lazy(), on="document")
        elif contract is CampaignRegistrations:
            kept = frame.drop("vanished").join(resolution.recorded.lazy(), on="document", how="semi")
            frame = flagged(kept, vanished)
        elif contract is BenchmarkRuns:
            frame = frame.join(resolution.recorded.lazy(), on="document", how="semi")
            frame = frame.drop("duplicates").join(
                _duplicates(spool, winners), left_on="document", right_on="run", how="left"
            )
            frame = frame.with_columns(pl.col("duplicates").fill_null(0))
        elif not unanimous:
            frame = frame.join(winners.lazy(), on="document", how="semi")
        tables[table_name(contract)] = to_contract(frame, contract)
    refused = pl.concat([empty(Quarantine), *whole.quarantine, resolution.quarantine])
    tables[table_name(Quarantine)] = refused.sort(pl.all()).lazy()
    counts = refused.group_by("stage", "reason").len().sort("stage", "reason")
    return Decoded(
        tables,
        documents=rows.height,
        identical_copies=int(winners["identical_copies"].sum()),
        quarantined={f"{stage}/{reason}": count for stage, reason, count in counts.iter_rows()},
    )


def _duplicates(spool: Spool, winners: pl.DataFrame) -> pl.LazyFrame:
    """`run`, the document of a run's file, and `duplicates`: attempts below it that copy ones counted elsewhere.

    Below it only: a store that was moved has every run twice, and each file speaks of what stands beside it.
    """
    directory = pl.col("uri").str.extract(r"\A((?s:.)*/)")
    runs = _scan(spool, BenchmarkRuns).select(*RUN, run="document", directory=directory)
    found = _scan(spool, Observations).select(*RUN, "document", "uri", "attempt_id")
    won = found.join(winners.lazy(), on="document", how="semi").select(*RUN, "attempt_id", won=pl.lit(value=True))
    counted = pl.col("attempt_id").filter(pl.col("won").is_not_null()).n_unique()
    return (
        runs.join(found, on=RUN)
        .filter(pl.col("uri").str.starts_with(pl.col("directory")))
        .join(won.unique(), on=[*RUN, "attempt_id"], how="left")
        .group_by("run")
        .agg(duplicates=pl.len().cast(pl.Int64) - counted.cast(pl.Int64))
    )


def _scan(spool: Spool, contract: type[Contract]) -> pl.LazyFrame:
    return spool.scan(table_name(contract), {"document": pl.Int64(), **schema(contract)})


def _stacked(frames: Sequence[pl.DataFrame], columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=columns), *frames])
