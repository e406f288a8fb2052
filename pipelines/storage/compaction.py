"""Small files become large ones: the same rows in the same order, and a writer's commit always wins.

Here: which files belong together, writing one for them, and the commit that exchanges them. Not here: when that is done
(`upkeep`), and how a partition's rows are replaced (`tables`). Delta's own `optimize` does not keep the order of rows.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import polars as pl
from deltalake.transaction import AddAction, RemoveAction

from assets.contract import Contract, partition_by
from pipelines.storage.actions import adds, held_files, removes
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.failures import explaining
from pipelines.storage.partition_files import WRITERS, DataFile, file_name, number_of, scan_files, write_file
from pipelines.storage.tables import COMMIT_ATTEMPTS, ConflictError, Tables, back_off

FILE_BYTES = 16 * 2**20  # about what a writer's memory makes of one partition
FILE_ROWS = 500_000  # bounds the memory of what compresses well
EXCHANGED_AT_ONCE = 32  # so that little is lost where it is interrupted


class Merge(NamedTuple):
    """Partition keys (a frame of the partition columns) whose rows belong into one, `values`."""

    keys: pl.DataFrame
    values: Mapping[str, object]


class Group(NamedTuple):
    """Files, as `held_files` gives them, whose rows belong into one file of the partition key `values`."""

    files: pl.DataFrame
    values: Mapping[str, object]


class Exchange(NamedTuple):
    """Files, and the one that has their rows."""

    files: pl.DataFrame
    file: DataFile
    moves: bool  # to another partition key


def groups(held: pl.DataFrame, contract: type[Contract], merges: Sequence[Merge] = ()) -> list[Group]:
    """The files that belong together: those of merged partitions, and small neighbours in one partition."""
    columns = list(partition_by(contract))
    found = [Group(held.join(m.keys, on=columns, how="semi", maintain_order="left"), m.values) for m in merges]
    for merge in merges:
        held = held.join(merge.keys, on=columns, how="anti", maintain_order="left")
    several = held.filter(pl.len().over(columns) > 1)
    for part in several.partition_by(columns, maintain_order=True):
        values = part.select(columns).row(0, named=True)
        found += [Group(files, values) for files in _neighbours(part)]
    return [group for group in found if group.files.height > 1]


def _neighbours(part: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Runs of files that together are not larger than one file should be."""
    start = size = rows = 0
    for number, (more_bytes, more_rows) in enumerate(part.select("size_bytes", "rows").iter_rows()):
        if number > start and (size + more_bytes > FILE_BYTES or rows + more_rows > FILE_ROWS):
            yield part[start:number]
            start, size, rows = number, 0, 0
        size, rows = size + more_bytes, rows + more_rows
    yield part[start:]


def compact(
    tables: Tables, contract: type[Contract], wanted: Sequence[Group], progress: Callable[[int], None] = lambda _: None
) -> None:
    """Put the rows of each group into one file; a group of which a writer replaced a file meanwhile is left alone.

    Raises:
        StoreError: a file cannot be read or written, or too many conflicting commits; what is committed is whole.
    """
    for start in range(0, len(wanted), EXCHANGED_AT_ONCE):
        with ThreadPoolExecutor(WRITERS) as pool:
            made = list(pool.map(lambda one: _rewritten(tables, contract, one), wanted[start:][:EXCHANGED_AT_ONCE]))
        _exchange(tables, contract, made)
        progress(start + len(made))


def _rewritten(tables: Tables, contract: type[Contract], group: Group) -> Exchange:
    """One file with the rows of the group, not yet part of the table."""
    uri, columns = tables.uri(contract), list(partition_by(contract))
    with explaining(f"{uri}: cannot read what is to be compacted", tables.options):
        uris = [f"{uri}/{path}" for path in group.files["path"]]
        rows = scan_files(uris, contract, tables.options).drop(columns).collect(engine="streaming")
    if rows.height != group.files["rows"].sum():
        told = f"{rows.height} rows where the log tells of {group.files['rows'].sum()}"
        raise StoreUnavailableError(f"{uri}: a file is damaged: {told} in {', '.join(group.files['path'])}")
    # Numbered as the first of them: the files of a partition stay in their order.
    name = file_name(number_of(group.files["path"][0]), uuid.uuid4().hex)
    file = write_file(rows, contract, group.values, name, uri, tables.options)
    moves = group.files.select(columns).row(0, named=True) != dict(group.values)
    return Exchange(group.files, file, moves)


def _exchange(tables: Tables, contract: type[Contract], made: Sequence[Exchange]) -> None:
    """Commit the exchanges whose files are all still there, against exactly the snapshot that says so.

    Files that are not needed after all stay where they are, as after a crash: whether a commit whose answer was lost
    has happened is not known, and old unreferenced files go later.
    """
    for attempt in range(COMMIT_ATTEMPTS):
        table = tables.opened(contract)
        held = set(held_files(table, contract)["path"])
        waiting = [one for one in made if held.issuperset(one.files["path"])]
        if not waiting:
            return
        try:
            tables.commit(table, contract, list(_actions(contract, waiting)), {"upkeep": "compaction"})
        except ConflictError:
            back_off(attempt)
        else:
            return
    raise StoreUnavailableError(f"{tables.uri(contract)}: {COMMIT_ATTEMPTS} commits met conflicting ones; run it again")


def _actions(contract: type[Contract], made: Iterable[Exchange]) -> Iterator[AddAction | RemoveAction]:
    for one in made:
        yield from adds([one.file], data_change=one.moves)
        yield from removes(one.files, contract, data_change=one.moves)
