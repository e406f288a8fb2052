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
from pipelines.storage.log_files import LogFiles
from pipelines.storage.tables import Tables


def as_of(tables: Tables, contract: type[Contract], moment: dt.datetime) -> DeltaTable:
    """The table as it was at that moment, empty before there was any.

    Raises:
        TableNotFoundError: there is no such table.
        StoreUnavailableError: its log or some of its files are no longer kept.
        StoreError: the table cannot be read.
    """
    newest, uri = tables.opened(contract), tables.uri(contract)
    told = f"{uri}: what it held at {moment:%Y-%m-%dT%H:%M:%SZ} is no longer kept"
    log = LogFiles.of(tables, contract)
    version = log.at(moment)
    if version < log.oldest or (version > 0 and log.commits[version].last_modified > moment):
        since = log.commits[log.oldest].last_modified
        raise StoreUnavailableError(f"{told}; the oldest moment is {since:%Y-%m-%dT%H:%M:%S.%fZ}")
    table = tables.opened(contract, version)
    then = set(held_files(table, contract)["path"])
    since_removed = then.difference(held_files(newest, contract)["path"])
    if since_removed and not since_removed <= {info.key for info in ArtifactStore(uri, tables.options).list_objects()}:
        raise StoreUnavailableError(f"{told}; the setting retention_days says how long it is")
    return table
