"""Upkeep of a table: fewer files, a log that opens fast, and nothing deleted that anybody may still read.

Here: the order of things, and what is old enough to go. Not here: which files belong together (`compaction`). What a
commit notes of the partitions outlives the commit: before any of the log goes, one commit says what all of them said.
Nothing goes that the table needed at any moment within the retention, be it part of a snapshot, or a file that a write
under way has put.
"""

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import fsspec
import polars as pl
from deltalake import CommitProperties
from deltalake.exceptions import CommitFailedError

from assets.contract import Contract, partition_by, table_name
from assets.landing.land import Progress
from pipelines import released
from pipelines.storage.actions import held_files
from pipelines.storage.compaction import Merge, compact, groups
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.failures import explaining
from pipelines.storage.log_files import LogFiles
from pipelines.storage.options import scheme
from pipelines.storage.provenance import CONSOLIDATED, consolidated, fold
from pipelines.storage.retries import retrying
from pipelines.storage.tables import COMMIT_ATTEMPTS, PROPERTIES, SINGLE_ATTEMPT, ConflictError, Tables, back_off

HOUR = dt.timedelta(hours=1)
LONGEST_WRITE = dt.timedelta(days=1)
"""From a file's putting to its commit: what was put before the retention may still have become part of it."""


class State(NamedTuple):
    """How a table stands."""

    files: int
    bytes: int | None  # null where that is not known before it is done
    versions: int  # that the log has


class Kept(NamedTuple):
    """What upkeep made of a table, or would make of it."""

    table: str
    before: State
    after: State
    vacuumed: int  # files that nothing needed any more


def maintain(
    tables: Tables,
    contract: type[Contract],
    retention: dt.timedelta,
    merges: Sequence[Merge] = (),
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
) -> Kept:
    """Compact, vacuum, consolidate the notes, write a checkpoint, and drop the log beyond the retention.

    May be interrupted anywhere, and runs beside writers, readers and itself.

    Args:
        tables: where the table is.
        contract: which table; it must exist.
        retention: how long everything can be read as it was; longer than any reader or writer takes.
        merges: partitions whose rows belong into one.
        progress: told how far it is.
        dry_run: only say what would be done.

    Raises:
        StoreError: the store failed; whatever was committed until then is whole.
    """
    since = dt.datetime.now(dt.UTC) - retention
    if not dry_run:
        _prepare(tables, contract)
    held, log = held_files(tables.opened(contract), contract), LogFiles.of(tables, contract)
    before = _state(held, log)
    wanted = groups(held, contract, merges)
    if dry_run:
        vacuumed = len(_vacuum(tables, contract, since, dry_run=True))
        first = log.first_kept(since, max(log.commits))
        after = State(
            before.files - sum(group.files.height - 1 for group in wanted),
            None if wanted else before.bytes,
            sum(version >= first for version in log.commits),
        )
        return Kept(table_name(contract), before, after, vacuumed)
    stage = f"compacting {table_name(contract)}"
    compact(tables, contract, wanted, lambda done: progress(stage, done, len(wanted)) if progress else None)
    vacuumed = len(_vacuum(tables, contract, since, dry_run=False))
    noted = _consolidate(tables, contract)
    _checkpoint(tables, contract, noted)
    _drop_log(tables, contract, since, noted)
    after = _state(held_files(tables.opened(contract), contract), LogFiles.of(tables, contract))
    return Kept(table_name(contract), before, after, vacuumed)


def _state(held: pl.DataFrame, log: LogFiles) -> State:
    return State(held.height, int(held["size_bytes"].sum()), len(log.commits))


def _prepare(tables: Tables, contract: type[Contract]) -> None:
    """The table as its contract and this module want it: in particular, nobody else drops its log."""
    tables.ensure([contract])
    for attempt in range(COMMIT_ATTEMPTS):
        table = tables.opened(contract)
        if PROPERTIES.items() <= table.metadata().configuration.items():
            return
        once = CommitProperties(max_commit_retries=SINGLE_ATTEMPT)
        with explaining(f"{tables.uri(contract)}: cannot set the table's properties", tables.options):
            try:
                table.alter.set_table_properties(PROPERTIES, commit_properties=once)
            except CommitFailedError:
                back_off(attempt)
    raise _too_many(tables, contract)


def _vacuum(tables: Tables, contract: type[Contract], since: dt.datetime, *, dry_run: bool) -> list[str]:
    """Delete the files that no snapshot since then has, unless they are younger: those of a write under way."""
    hours = int((dt.datetime.now(dt.UTC) - since + LONGEST_WRITE) / HOUR)
    # A file that a checkpoint has forgotten looks like one that never was part of the table; those of the snapshot of
    # then are named, and what was added later is young enough.
    then = LogFiles.of(tables, contract).at(since)
    with explaining(f"{tables.uri(contract)}: cannot delete old files", tables.options):
        return tables.opened(contract).vacuum(
            hours,
            dry_run,
            enforce_retention_duration=False,  # the setting has its own minimum
            full=True,
            keep_versions=[then],
        )


def _consolidate(tables: Tables, contract: type[Contract]) -> int:
    """The version of a commit that says of the partitions what every earlier one said, the newest as far as is known.

    It goes through only as the next version of what was read: no writer's note is ever lost.
    """
    for attempt in range(COMMIT_ATTEMPTS):
        table = tables.opened(contract)
        commits = list(tables.notes_of(contract, table))
        if CONSOLIDATED in commits[0]:
            return table.version()
        notes = {**released.carried(commits), **consolidated(fold(commits, partition_by(contract)))}
        try:
            tables.commit(table, contract, [], notes)
        except ConflictError:
            back_off(attempt)
        else:
            return table.version() + 1
    raise _too_many(tables, contract)


def _checkpoint(tables: Tables, contract: type[Contract], version: int) -> None:
    """Write one unless it is there: written again, it would look younger than it is."""
    if version in LogFiles.of(tables, contract).checkpoints:
        return
    with explaining(f"{tables.uri(contract)}: cannot write a checkpoint", tables.options):
        tables.opened(contract, version).create_checkpoint()


def _drop_log(tables: Tables, contract: type[Contract], since: dt.datetime, noted: int) -> None:
    log, uri = LogFiles.of(tables, contract), tables.uri(contract)
    store = fsspec.filesystem(scheme(uri), **tables.options.fsspec)
    with explaining(f"{uri}: cannot delete what is old of the log", tables.options):
        for info in log.before(log.first_kept(since, noted)):
            with suppress(FileNotFoundError):  # another process was first
                retrying()(store.rm_file, info.uri)


def _too_many(tables: Tables, contract: type[Contract]) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{tables.uri(contract)}: {COMMIT_ATTEMPTS} commits met conflicting ones; run it again"
    )
