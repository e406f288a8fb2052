"""The Parquet files of one write: rows held back per partition key until they are worth a file.

Here: partition keys as text and as paths, validation of the batches, writing and reading the files. Not here: the
transaction that makes the files part of a table (`tables`).
"""

import io
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import fsspec
import polars as pl

from assets.ahead import ahead
from assets.contract import Contract, ContractError, conform, key, partition_by, schema, table_name
from pipelines.storage.failures import STORAGE_ERRORS, explaining
from pipelines.storage.options import StoreOptions, scheme
from pipelines.storage.s3_objects import put_object

Frame = pl.LazyFrame | pl.DataFrame
PartitionKey = Mapping[str, object]  # every partition column of the table -> its value

BATCH_BYTES = 16 * 2**20  # rows of a stream are gathered up to this size before they are validated
HELD_BYTES = 64 * 2**20  # rows are held back up to this size before they become files
ROW_GROUP_BYTES = 32 * 2**20  # so that a reader's memory is bounded too
LARGEST_ROW_GROUP = 500_000  # rows
WRITERS = 4
LONGEST_DIRECTORY = 200  # bytes; most file systems allow 255
NULL_DIRECTORY = "__HIVE_DEFAULT_PARTITION__"  # readers take it for null
SHOWN_KEYS = 5


class DataFile(NamedTuple):
    """One Parquet file below the table's directory."""

    path: str  # relative; values of partition columns are percent-encoded in it
    size_bytes: int
    rows: int
    values: dict[str, str]  # partition column -> value as the transaction log writes it

    @property
    def stats(self) -> str:
        """The statistics of the transaction log: the row count. Parquet's own statistics serve the rest."""
        return json.dumps({"numRecords": self.rows})


def partition_keys(contract: type[Contract], keys: Sequence[PartitionKey], *, whole: bool = True) -> pl.DataFrame:
    """`keys` as a frame of the partition columns, in the order given; of some of them unless they must be `whole`.

    Raises:
        ValueError: no key at all, one twice, other columns, a null, a value of another type, or one that does not
            survive as the name of a directory.
    """
    name, columns = table_name(contract), partition_by(contract)
    if keys and not whole:
        columns = tuple(column for column in columns if column in keys[0]) or columns
    for given in keys:
        if set(given) != set(columns):
            raise ValueError(f"{name}: a partition key has the columns {sorted(columns)}, not {sorted(given)}")
    try:
        frame = pl.DataFrame(list(keys), schema={column: schema(contract)[column] for column in columns}, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{name}: a partition key has a value of the wrong type: {error}") from None
    if frame.is_empty():
        raise ValueError(f"{name}: no partition keys were given")
    if frame.is_duplicated().any():
        raise ValueError(f"{name}: a partition key is given twice")
    for given, stored in zip(keys, frame.iter_rows(named=True), strict=True):
        if dict(given) != stored or not all(_is_storable(column, value) for column, value in stored.items()):
            raise ValueError(
                f"{name}: {dict(given)!r} cannot be a partition key: a wrong type, null, empty or too long"
            )
    return frame


def _is_storable(column: str, value: object) -> bool:
    """Whether the value survives as the name of a directory."""
    return value not in (None, "", NULL_DIRECTORY) and len(_directory(column, str(value))) <= LONGEST_DIRECTORY


class PartitionFiles:
    """Writes validated batches into files, one partition key each, below the directory `uri`."""

    def __init__(self, contract: type[Contract], keys: pl.DataFrame, uri: str, options: StoreOptions) -> None:
        self._contract, self._keys, self._uri, self._options = contract, keys, uri, options
        self._columns = partition_by(contract)
        self._key = key(contract)
        self._held: dict[tuple[object, ...], list[pl.DataFrame]] = {}
        self._held_bytes = 0
        self._hashes: list[pl.Series] = []
        self._id = uuid.uuid4().hex
        self.files: list[DataFile] = []

    def check_schema(self, frame: Frame) -> None:
        """Refuse a frame of another schema before a row is computed.

        Raises:
            ContractError: a column is missing, extra, out of order or of another type.
        """
        given = frame.collect_schema()
        if given != pl.Schema(schema(self._contract)):
            conform(self._contract, pl.DataFrame(schema=given))  # says what differs

    def write(self, rows: Frame | Iterable[Frame]) -> list[DataFile]:
        """Every row of a frame, or of several one after another, in files; nothing remains of them where this fails.

        Raises:
            ContractError: schema or values differ from the contract, or a row lies outside the keys.
            StoreError: a file could not be written.
        """
        try:
            if isinstance(rows, pl.DataFrame):
                self._add(rows)
            elif isinstance(rows, pl.LazyFrame):
                self._add_each(_batches(rows))
            else:
                self._add_each(ahead(self._collected, rows, at_once=1))
            self._flush()
            self._check_key()
        except BaseException:
            self.discard()
            raise
        return self.files

    def _add_each(self, batches: Iterable[pl.DataFrame]) -> None:
        for batch in batches:
            self._add(batch)

    def _collected(self, frame: Frame) -> pl.DataFrame:
        self.check_schema(frame)
        return frame if isinstance(frame, pl.DataFrame) else frame.collect(engine="streaming")

    def discard(self) -> None:
        """Remove the files, as far as that is possible; readers never see them in any case."""
        for file in self.files:
            _remove(f"{self._uri}/{file.path}", self._options)
        self.files = []

    def _add(self, batch: pl.DataFrame) -> None:
        conform(self._contract, batch)
        present = batch.select(self._columns).unique(maintain_order=True)
        outside = present.join(self._keys, on=self._columns, how="anti")
        if not outside.is_empty():
            shown = outside.head(SHOWN_KEYS).rows()
            raise ContractError(f"{table_name(self._contract)}: rows outside the partition keys of this write: {shown}")
        if self._key:
            self._hashes.append(batch.select(self._key).hash_rows())
        for values, part in _parts(batch, present):
            self._held.setdefault(values, []).append(part)
            self._held_bytes += int(part.estimated_size())
        if self._held_bytes >= HELD_BYTES:
            self._flush()

    def _flush(self) -> None:
        numbered = enumerate(self._held.items(), start=len(self.files))
        with ThreadPoolExecutor(WRITERS) as pool:
            self.files += pool.map(lambda item: self._write(item[0], *item[1]), numbered)
        self._held, self._held_bytes = {}, 0

    def _write(self, number: int, values: tuple[object, ...], parts: Sequence[pl.DataFrame]) -> DataFile:
        named = dict(zip(self._columns, values, strict=True))
        return write_file(
            pl.concat(parts), self._contract, named, file_name(number, self._id), self._uri, self._options
        )

    def _check_key(self) -> None:
        """Prove the key across batches (each alone has passed): by hash, and exactly where two hashes are equal."""
        if len(self._hashes) <= 1 or not pl.concat(self._hashes).is_duplicated().any():
            return
        written = scan_files([f"{self._uri}/{file.path}" for file in self.files], self._contract, self._options)
        repeated = written.group_by(self._key).len().filter(pl.col("len") > 1).collect(engine="streaming")
        if not repeated.is_empty():
            shown = repeated.drop("len").head(SHOWN_KEYS).rows()
            raise ContractError(f"{table_name(self._contract)}: {', '.join(self._key)} is not unique: {shown}")


def _parts(batch: pl.DataFrame, present: pl.DataFrame) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    """The rows of each partition key that is present; where each key's rows follow each other, none is copied."""
    columns = present.columns
    starts = batch.select(pl.any_horizontal(pl.col(columns).ne_missing(pl.col(columns).shift())).arg_true()).to_series()
    rows = batch.drop(columns)
    if len(starts) > len(present):
        yield from batch.partition_by(columns, as_dict=True, include_key=False, maintain_order=True).items()
        return
    for values, (start, end) in zip(present.iter_rows(), pairwise([*starts, len(batch)]), strict=True):
        yield values, rows[start:end]


def file_name(number: int, write: str) -> str:
    """The name of a file: numbered, so that the rows of a partition are read back in the order they were written in."""
    return f"part-{number:05d}-{write}.parquet"


def number_of(path: str) -> int:
    """The number in the name of a file."""
    return int(path.rpartition("/")[2].split("-")[1])


def write_file(
    rows: pl.DataFrame,
    contract: type[Contract],
    values: Mapping[str, object],
    name: str,
    uri: str,
    options: StoreOptions,
) -> DataFile:
    """One file of one partition key below the table's directory `uri`; `rows` are without the partition columns.

    Raises:
        StoreError: it could not be written.
    """
    buffer = io.BytesIO()
    rows_per_group = max(1, rows.height * ROW_GROUP_BYTES // max(1, int(rows.estimated_size())))
    rows.write_parquet(
        buffer,
        compression="zstd",
        compression_level=1,
        statistics=pl.Binary not in rows.dtypes,  # a footer full of documents serves nobody
        row_group_size=min(rows_per_group, LARGEST_ROW_GROUP),
    )
    named = {column: str(values[column]) for column in partition_by(contract)}
    folders = "/".join(_directory(column, text) for column, text in named.items())
    path = f"{folders}/{name}"
    _put(f"{uri}/{path}", buffer.getvalue(), options)
    return DataFile(path, buffer.getbuffer().nbytes, rows.height, named)


def scan_files(uris: Sequence[str], contract: type[Contract], options: StoreOptions) -> pl.LazyFrame:
    """The rows of a table's files, in the contract's columns; a column that an older file lacks is null."""
    declared = schema(contract)
    if not uris:
        return pl.LazyFrame(schema=declared)
    return pl.scan_parquet(
        list(uris),
        schema=declared,
        hive_schema={column: declared[column] for column in partition_by(contract)},
        hive_partitioning=True,
        glob=False,
        missing_columns="insert",
        storage_options=dict(options.object_store) or None,
    ).select(list(declared))


def _batches(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The stream's batches, gathered until one is large enough to be worth a validation."""
    gathered: list[pl.DataFrame] = []
    size = 0
    for batch in frame.collect_batches(engine="streaming", maintain_order=True):
        gathered.append(batch)
        size += int(batch.estimated_size())
        if size >= BATCH_BYTES:
            yield pl.concat(gathered)
            gathered, size = [], 0
    if gathered:
        yield pl.concat(gathered)


def _directory(column: str, text: str) -> str:
    return f"{column}={quote(text, safe='')}"


def _put(uri: str, content: bytes, options: StoreOptions) -> None:
    with explaining(f"{uri}: cannot write", options):
        if scheme(uri) == "s3":
            put_object(uri, content, options)
            return
        path = Path(uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _remove(uri: str, options: StoreOptions) -> None:
    with suppress(*STORAGE_ERRORS):  # the failure that led here is the one to report; vacuum finds what is left
        fsspec.filesystem(scheme(uri), **options.fsspec).rm_file(uri)
