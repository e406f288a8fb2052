"""The project's Delta tables: each write is one atomic commit that replaces exactly the given partition keys.

Here: creating, migrating, scanning and replacing. Not here: what Dagster knows of a run (`io_manager`), and what any
table means (its contract). A writer puts its Parquet files first, and then commits their adds together with the removes
of everything that its partition keys hold in the snapshot it read. Such a commit succeeds only as the very next version
of that snapshot; any commit in between makes the writer read again, so that writers are serialized.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from deltalake import CommitProperties, DeltaTable, Field, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from assets.contract import Contract, descriptions, partition_by, schema, table_name
from pipelines.storage.actions import adds, held_files, removes
from pipelines.storage.errors import StoreConfigurationError, StoreUnavailableError
from pipelines.storage.failures import STORAGE_ERRORS, explained, explaining, is_transient
from pipelines.storage.options import StoreOptions, scheme
from pipelines.storage.partition_files import DataFile, Frame, PartitionFiles, PartitionKey, partition_keys, scan_files
from pipelines.storage.provenance import CONSOLIDATED, PARTITION_KEYS, UNKNOWN, Provenance, Values, fold
from pipelines.storage.retries import ATTEMPTS, retrying
from pipelines.storage.snapshots import Snapshot, Snapshots

COMMIT_ATTEMPTS = 60
LOOK_ATTEMPTS = 5  # calls of delta-rs, which tries most requests again itself
HISTORY_STEPS = (64, 1024, None)  # commits that are read at once
LONGEST_WAIT_SECONDS = 1.0
PROPERTIES = {"delta.checkpointInterval": "10", "delta.enableExpiredLogCleanup": "false"}
"""Opening stays cheap; no commit is forgotten before its notes are consolidated (`upkeep`)."""

JITTER = random.SystemRandom()  # processes that start together must not wait alike
SINGLE_ATTEMPT = 0  # delta-rs's own retries would rebase a commit whose removes were computed on an older snapshot


class ConflictError(Exception):
    """The commit did not happen, as far as is known; a new snapshot tells. Its cause is the store's failure, if any."""


class Commit(NamedTuple):
    """One commit that happened."""

    version: int
    rows: int
    bytes: int  # Parquet bytes added
    files: int  # files added
    removed: int  # files removed


@dataclass(frozen=True)
class Tables:
    """All tables below one root: a local folder or `s3://` prefix that holds one Delta directory per table name."""

    url: str
    options: StoreOptions = field(default_factory=StoreOptions)
    _snapshots: Snapshots = field(default_factory=Snapshots, init=False, repr=False, compare=False)
    _noted: dict[str, tuple[int, dict[Values, Provenance]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __reduce__(self) -> tuple[Callable[..., "Tables"], tuple[object, ...]]:
        """Another process looks for itself."""
        return Tables, (self.url, self.options)

    def __post_init__(self) -> None:
        if scheme(self.url) == "memory":
            raise StoreConfigurationError(f"{self.url}: tables live in a local folder or in s3://")

    @property
    def root(self) -> str:
        """The URL without a trailing slash; a local one as an absolute path."""
        if scheme(self.url) == "s3":
            return self.url.rstrip("/")
        return str(Path(self.url.removeprefix("file://")).absolute())

    def uri(self, contract: type[Contract]) -> str:
        """Where the table is."""
        return f"{self.root}/{table_name(contract)}"

    def exists(self, contract: type[Contract]) -> bool:
        """Whether the table exists; a store that fails raises instead of saying no."""
        try:
            self._newest(contract)
        except TableNotFoundError:
            return False
        return True

    def version(self, contract: type[Contract]) -> int:
        """The table's newest version."""
        return self._newest(contract).version

    def _newest(self, contract: type[Contract]) -> Snapshot:
        return self._snapshots.newest(contract, lambda: self.opened(contract))

    def notes(self, contract: type[Contract]) -> Iterator[Mapping[str, Any]]:
        """What the table's commits say of themselves, newest first; nothing where there is no table yet.

        The newest come first and are read first: whoever has seen enough reads no further. The last one is the one
        that stands for every earlier commit, where there is one.
        """
        try:
            table = self.opened(contract)
        except TableNotFoundError:
            return
        yield from self.notes_of(contract, table)

    def notes_of(self, contract: type[Contract], table: DeltaTable) -> Iterator[Mapping[str, Any]]:
        """As `notes`, of a snapshot; commits that came after it may be among them."""
        told = 0
        for limit in HISTORY_STEPS:
            with explaining(f"{self.uri(contract)}: cannot read the table's history", self.options):
                # A commit that was listed may be gone when it is read: upkeep drops the oldest ones.
                commits = retrying(LOOK_ATTEMPTS, FileNotFoundError)(table.history, limit)
            for commit in commits[told:]:
                yield commit
                if CONSOLIDATED in commit:
                    return
            if limit is None or len(commits) < limit:
                return
            told = len(commits)

    def provenance(self, contract: type[Contract]) -> Mapping[Values, Provenance]:
        """What the newest commit of each partition says that its rows come from; nothing where there is no table yet.

        Of a partition that another tool wrote nothing is known but that it is there. Rows that are scanned after this
        are not older than it: a partition that changes in between looks older than it is, and is computed once more,
        but never newer.
        """
        if not self.exists(contract):
            return {}
        version, name = self.version(contract), table_name(contract)
        if self._noted.get(name, (None,))[0] != version:
            there = dict.fromkeys(self.rows(contract), UNKNOWN)
            self._noted[name] = (version, there | fold(self.notes(contract), partition_by(contract)))
        return self._noted[name][1]

    def rows(self, contract: type[Contract]) -> dict[Values, int]:
        """The number of rows of each partition, as the table's log tells it: no file is read."""
        try:
            held = self._newest(contract).held
        except TableNotFoundError:
            return {}
        columns = partition_by(contract)
        counts = held.group_by(columns).agg(pl.col("rows").sum())
        return {tuple(map(str, row[:-1])): row[-1] for row in counts.iter_rows()}

    def ensure(self, contracts: Iterable[type[Contract]]) -> None:
        """Create what is missing with the contract's full schema; add columns that a contract has gained.

        Safe from several processes at once, and does nothing where nothing is to be done. Added columns are a commit
        of their own that says so, and are null in older rows.

        Raises:
            StoreConfigurationError: the stored table differs from its contract by more than new nullable columns.
            StoreUnavailableError: the store does not answer.
        """
        for contract in contracts:
            self._ready(contract)

    def scan(
        self, contract: type[Contract], keys: Sequence[PartitionKey] | None = None, version: int | None = None
    ) -> pl.LazyFrame:
        """One snapshot of the table, of the given partition keys only, in exactly the contract's columns and types.

        Keys may name some of the partition columns only (all of them the same ones). The snapshot is taken now, not
        when the frame is collected. Rows come by partition value, then as written.

        Raises:
            ValueError: `keys` is empty, repeats a key, or names other columns.
            StoreConfigurationError: the table does not exist, or not in that version.
        """
        try:
            newest = self._newest(contract)
            if version in (None, newest.version):
                held = newest.held
            else:
                held = held_files(self.opened(contract, version), contract)
        except TableNotFoundError:
            raise StoreConfigurationError(
                f"{self.uri(contract)}: there is no such table yet; run the pipeline first"
            ) from None
        if keys is not None:
            wanted = partition_keys(contract, keys, whole=False)
            held = held.join(wanted, on=wanted.columns, how="semi", maintain_order="left")
        return scan_files([f"{self.uri(contract)}/{path}" for path in held["path"]], contract, self.options)

    def replace(
        self,
        contract: type[Contract],
        frame: Frame | Iterable[Frame],
        keys: Sequence[PartitionKey],
        metadata: Mapping[str, str] | None = None,
    ) -> Commit:
        """Make `keys` hold exactly the rows of `frame`, in one atomic commit that touches no other partition key.

        A LazyFrame runs through the streaming engine in bounded memory; several frames are computed one after another,
        the next one while the last one is written. Each batch is proven against the contract;
        nothing is committed unless all of them pass. `metadata` (run id, rule set digest, ...) goes into the commit,
        and so do the keys.

        Raises:
            ContractError: schema or values differ from the contract, or a row lies outside `keys`; nothing is written.
            ValueError: `keys` is empty, repeats a key, or does not name exactly the partition columns.
            StoreError: the store failed, or too many conflicting commits; nothing is committed.
        """
        replaced = partition_keys(contract, keys)
        writer = PartitionFiles(contract, replaced, self.uri(contract), self.options)
        if isinstance(frame, pl.LazyFrame | pl.DataFrame):
            writer.check_schema(frame)
        table = self._ready(contract)
        files = writer.write(frame)
        noted = {**(metadata or {}), PARTITION_KEYS: json.dumps(replaced.rows(named=True), default=str)}
        failures: list[BaseException] = []  # of the store, after which a commit may have happened or not
        for attempt in range(COMMIT_ATTEMPTS):
            held = held_files(table, contract).join(replaced, on=partition_by(contract), how="semi")
            if files and files[0].path in held["path"]:  # an earlier attempt got through although its answer was lost
                return _committed(table.version(), files, 0)
            if len(failures) == ATTEMPTS:
                raise explained(failures[-1], f"{self.uri(contract)}: cannot commit", self.options) from None
            try:
                self.commit(table, contract, [*adds(files), *removes(held, contract)], noted)
            except ConflictError as conflict:
                failures += [conflict.__cause__] if conflict.__cause__ else []
                back_off(attempt)
                table = self.opened(contract)
            else:
                return _committed(table.version() + 1, files, held.height)
        if not failures:
            writer.discard()
        raise StoreUnavailableError(
            f"{self.uri(contract)}: {COMMIT_ATTEMPTS} commits met conflicting ones; run it again"
        )

    def note(self, contract: type[Contract], metadata: Mapping[str, str]) -> None:
        """Commit nothing but what it says.

        Raises:
            StoreError: the store failed, or too many conflicting commits; nothing is committed.
        """
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                return self.commit(self.opened(contract), contract, [], metadata)
            except ConflictError:
                back_off(attempt)
        raise StoreUnavailableError(
            f"{self.uri(contract)}: {COMMIT_ATTEMPTS} commits met conflicting ones; run it again"
        )

    def commit(
        self,
        table: DeltaTable,
        contract: type[Contract],
        actions: list[AddAction | RemoveAction],
        metadata: Mapping[str, str],
    ) -> None:
        """Commit `actions` as the version after the snapshot `table`, or raise `ConflictError` to be tried again.

        Files stay where they are when this fails otherwise: a commit whose answer was lost may have happened.
        """
        try:
            table.create_write_transaction(
                actions,
                mode="append",  # of actions: the removes are among them
                schema=table.schema(),
                partition_by=list(partition_by(contract)),
                commit_properties=CommitProperties(dict(metadata), max_commit_retries=SINGLE_ATTEMPT),
            )
        except STORAGE_ERRORS as error:
            if isinstance(error, CommitFailedError):
                raise ConflictError from None
            if is_transient(error):
                raise ConflictError from error
            raise explained(error, f"{self.uri(contract)}: cannot commit", self.options) from None

    def _ready(self, contract: type[Contract]) -> DeltaTable:
        """The table as its contract wants it, created or migrated where need be; races are settled by looking again."""
        for _ in range(COMMIT_ATTEMPTS):
            try:
                table = self.opened(contract)
            except TableNotFoundError:
                self._create(contract)
                continue
            gained = _gained_columns(table, contract)
            if not gained:
                return table
            note = CommitProperties(
                {"migration": f"added columns {', '.join(gained)}"}, max_commit_retries=SINGLE_ATTEMPT
            )
            with explaining(f"{self.uri(contract)}: cannot add columns", self.options):
                try:
                    retrying(LOOK_ATTEMPTS)(
                        table.alter.add_columns,
                        [f for f in _delta_schema(contract).fields if f.name in gained],
                        commit_properties=note,
                    )
                except CommitFailedError:
                    continue
        raise StoreUnavailableError(f"{self.uri(contract)}: the table could not be created or migrated; run it again")

    def _create(self, contract: type[Contract]) -> None:
        with explaining(f"{self.uri(contract)}: cannot create the table", self.options):
            try:
                retrying(LOOK_ATTEMPTS)(
                    DeltaTable.create,
                    self.uri(contract),
                    schema=_delta_schema(contract),
                    mode="error",
                    partition_by=list(partition_by(contract)),
                    name=table_name(contract),
                    description=(contract.__doc__ or "").strip(),
                    configuration={
                        **PROPERTIES,
                        "delta.dataSkippingStatsColumns": ",".join(_indexed_columns(contract)),
                    },
                    storage_options=self.options.delta,
                    commit_properties=CommitProperties(max_commit_retries=SINGLE_ATTEMPT),
                )
            except DeltaError as error:
                if not (isinstance(error, CommitFailedError) or "already exists" in str(error)):
                    raise  # else another process was first, or an earlier try whose answer was lost

    def opened(self, contract: type[Contract], version: int | None = None) -> DeltaTable:
        """The table's snapshot. Only `TableNotFoundError` means that it is missing; every other failure is one."""
        try:
            return retrying(LOOK_ATTEMPTS)(
                DeltaTable, self.uri(contract), version=version, storage_options=self.options.delta
            )
        except TableNotFoundError:
            raise
        except STORAGE_ERRORS as error:
            raise explained(error, f"{self.uri(contract)}: cannot read the table", self.options) from None


def back_off(attempt: int) -> None:
    """Wait before a commit is tried again; longer each time, and never two writers alike."""
    time.sleep(JITTER.uniform(0, min(LONGEST_WAIT_SECONDS, 0.02 * 2**attempt)))


def _committed(version: int, files: Sequence[DataFile], removed: int) -> Commit:
    return Commit(version, sum(f.rows for f in files), sum(f.size_bytes for f in files), len(files), removed)


def _delta_schema(contract: type[Contract]) -> Schema:
    """The contract as a Delta schema with the descriptions as comments.

    Raises:
        TypeError: a column's type would come back from the table as another one.
    """
    declared = pl.Schema(schema(contract))
    delta = Schema.from_arrow(declared)
    if pl.Schema(delta) != declared:
        raise TypeError(f"{table_name(contract)}: Delta stores {pl.Schema(delta)}, not {declared}")
    comments = descriptions(contract)
    return Schema([Field(f.name, f.type, nullable=True, metadata={"comment": comments[f.name]}) for f in delta.fields])


def _indexed_columns(contract: type[Contract]) -> list[str]:
    """Columns worth minimum and maximum in the log when a table is compacted: no documents, no lists."""
    unfit = {*partition_by(contract)}
    return [c for c, dtype in schema(contract).items() if not (c in unfit or dtype.is_nested() or dtype == pl.Binary)]


def _gained_columns(table: DeltaTable, contract: type[Contract]) -> list[str]:
    """The contract's columns that the stored table lacks, in the contract's order.

    Raises:
        StoreConfigurationError: the table differs from its contract by anything else than nullable new columns.
    """
    stored, declared = dict(pl.Schema(table.schema())), schema(contract)
    gained = [name for name in declared if name not in stored]
    nullable = {name for name, column in contract.to_schema().columns.items() if column.nullable}
    faults = [f"{name} is no longer declared" for name in stored if name not in declared]
    faults += [
        f"{n} is {stored[n]}, declared {declared[n]}" for n in declared if n in stored and stored[n] != declared[n]
    ]
    faults += [f"{name} is new but not nullable" for name in gained if name not in nullable]
    if tuple(table.metadata().partition_columns) != partition_by(contract):
        faults.append(
            f"it is partitioned by {table.metadata().partition_columns}, declared {list(partition_by(contract))}"
        )
    if faults:
        raise StoreConfigurationError(f"{table.table_uri}: the table does not match its contract: {'; '.join(faults)}")
    return gained
