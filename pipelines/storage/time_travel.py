"""A table as it was at a moment, or a clear word that it is no longer kept.

Here: which version that is, and whether the log and the files still have it. Not here: how long they are kept
(`upkeep`). The moment of a commit is when the store says that its file in the log was written.
"""

import datetime as dt

from deltalake import DeltaTable

from assets.contract import Contract
from pipelines.storage.actions import held_files
from pipelines.storage.artifact_store import ArtifactStore
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.failures import explaining
from pipelines.storage.log_files import LogFiles
from pipelines.storage.tables import Tables


def at(tables: Tables, contract: type[Contract], moment: dt.datetime) -> DeltaTable:
    """The newest version at that moment, or the oldest one that the log still has; an empty one before there was any.

    Raises:
        TableNotFoundError: there is no such table.
        StoreError: the table cannot be read.
    """
    table = tables.opened(contract)
    with explaining(f"{tables.uri(contract)}: cannot read the table", tables.options):
        table.load_as_version(moment)
    return table


def as_of(tables: Tables, contract: type[Contract], moment: dt.datetime) -> DeltaTable:
    """The table as it was at that moment, empty before there was any.

    Raises:
        TableNotFoundError: there is no such table.
        StoreUnavailableError: its log or some of its files are no longer kept.
        StoreError: the table cannot be read.
    """
    table, uri = at(tables, contract, moment), tables.uri(contract)
    told = f"{uri}: what it held at {moment:%Y-%m-%dT%H:%M:%SZ} is no longer kept"
    oldest, log = table.version(), LogFiles.of(tables, contract)
    if oldest > 0 and oldest == min(log.commits) and (since := log.commits[oldest].last_modified) > moment:
        raise StoreUnavailableError(f"{told}; the oldest moment is {since:%Y-%m-%dT%H:%M:%S.%fZ}")
    then = set(held_files(table, contract)["path"])
    since_removed = then.difference(held_files(tables.opened(contract), contract)["path"])
    if since_removed and not since_removed <= {info.key for info in ArtifactStore(uri, tables.options).list_objects()}:
        raise StoreUnavailableError(f"{told}; the setting retention_days says how long it is")
    return table
