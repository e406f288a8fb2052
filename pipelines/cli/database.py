"""DuckDB over the tables: every table a view of its name, and `<table>_current` beside it.

Here: which views there are and what a query may do (one SELECT; no files, no network, no settings). Not here: the
command line, and how an answer is printed (`sql`). The views read the Delta tables as Arrow datasets, with filters and
columns pushed down: DuckDB's own Delta and S3 extensions would have to be downloaded.

https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import duckdb
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from pyarrow.dataset import Dataset

from assets.attempts.contract import Attempts
from assets.attempts.precedence import order_by
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import Contract, descriptions, latest_by, schema, table_name
from assets.landing.contract import Quarantine, RawArtifacts
from assets.rulesets.loader import current, load_all
from assets.tables import TABLES
from pipelines.cli.output import CommandError, UsageError
from pipelines.settings import Settings
from pipelines.storage import time_travel
from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables

CURRENT = "_current"
LOCKED_DOWN: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
SIGNAL_SECONDS = 0.1  # at most so long until a signal that another thread received is heeded
ABSENT = re.compile(r"Table with name (\S+) does not exist")

T = TypeVar("T")


def connect(settings: Settings, query: str, as_of: dt.datetime | None = None) -> duckdb.DuckDBPyConnection:
    """A locked connection with the views that `query` mentions; all of them where it mentions none.

    Args:
        settings: where the tables are, and the rule sets.
        query: the SELECT that will be asked.
        as_of: read each table as it was then; default the newest version.

    Raises:
        StoreError: a table cannot be read.
        RuleSetError: no rule set is current.
    """
    words = {word.lower().removesuffix(CURRENT) for word in re.findall(r"\w+", query)}
    wanted = {name for name in TABLES if name in words} or set(TABLES)
    if wanted != {table_name(RawArtifacts)}:
        wanted.add(table_name(Attempts))  # decides what is current
    rules_id = current(load_all(settings.rulesets)).id
    connection = duckdb.connect(":memory:", config=LOCKED_DOWN)
    connection.execute("SET TimeZone = 'UTC'")
    for name, table in open_tables(stored(settings), wanted, as_of):
        connection.register(name, _widened(table.to_pyarrow_dataset(), TABLES[name]))
    present = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
    for name in [name for name in TABLES if name in present]:
        if name in {table_name(RawArtifacts), table_name(Attempts)} or table_name(Attempts) in present:
            connection.execute(f"CREATE TEMP VIEW {name}{CURRENT} AS {current_rows(TABLES[name], rules_id)}")
        _comment(connection, TABLES[name])
    connection.execute("SET lock_configuration = true")
    return connection


def _widened(rows: Dataset, contract: type[Contract]) -> Dataset:
    """The rows, with nulls in the columns that the contract has gained since: of an older table, or as of then."""
    gained = {column: dtype for column, dtype in schema(contract).items() if column not in rows.schema.names}
    return rows.replace_schema(pa.schema([*rows.schema, *pl.DataFrame(schema=gained).to_arrow().schema]))


def stored(settings: Settings) -> Tables:
    """The tables of the settings; nothing is created."""
    return Tables(settings.tables, store_options(settings.tables, settings.aws))


def open_tables(
    store: Tables, names: Iterable[str], as_of: dt.datetime | None = None
) -> Iterator[tuple[str, DeltaTable]]:
    """Those of the named tables that exist, as they are or were.

    Raises:
        StoreError: a table cannot be read, or what it was is no longer kept.
    """
    for name in [name for name in TABLES if name in set(names)]:
        contract = TABLES[name]
        try:
            table = store.opened(contract) if as_of is None else time_travel.as_of(store, contract, as_of)
        except TableNotFoundError:
            continue
        yield name, table


def current_rows(contract: type[Contract], rules_id: str) -> str:
    """The query behind `<table>_current`."""
    name, columns = table_name(contract), schema(contract)
    if contract is Attempts:
        return f"FROM {name} QUALIFY row_number() OVER (PARTITION BY attempt_id ORDER BY {order_by()}) = 1"
    if contract is RawArtifacts:
        newest = "row_number() OVER (PARTITION BY uri, landed_on ORDER BY ingested_at DESC, batch DESC) = 1"
        return f"FROM {name} QUALIFY {newest}"
    if contract is CampaignRegistrations:
        order = "last_modified DESC, uri DESC, landed_on DESC"
        return f"FROM {name} QUALIFY row_number() OVER (PARTITION BY campaign_id ORDER BY {order}) = 1"
    conditions, later = [], ""
    if latest := latest_by(contract):
        of = f"PARTITION BY {', '.join(latest)}" + (", rules" if "rules" in columns else "")
        rules = f" WHERE rules = '{rules_id}'" if "rules" in columns else ""
        return f"FROM {name}{rules} QUALIFY landed_on = max(landed_on) OVER ({of})"
    if "attempt_id" in columns and contract is not Quarantine:  # a quarantined document lost to nothing
        winners = f"FROM {table_name(Attempts)}{CURRENT} SELECT attempt_id, landed_on"
        # Figures of a whole document belong to no attempt; of those of a run the later day's count.
        conditions.append(f"(attempt_id IS NULL OR (attempt_id, landed_on) IN ({winners}))")
        if "run_id" in columns:
            of_run = "landed_on = max(landed_on) OVER (PARTITION BY run_id)"
            later = f" QUALIFY attempt_id IS NOT NULL OR run_id IS NULL OR {of_run}"
    if "rules" in columns:
        conditions.append(f"rules = '{rules_id}'")
    return f"FROM {name}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "") + later


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.DuckDBPyRelation:
    """The answer to one SELECT, not yet computed.

    Raises:
        UsageError: it is not exactly one SELECT, or DuckDB refuses it; the message is DuckDB's, on one line.
        CommandError: it names a table that does not exist.
    """
    try:
        statements = connection.extract_statements(query)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise UsageError("write exactly one SELECT statement; nothing else is run")
        relation: duckdb.DuckDBPyRelation | None = connection.sql(query)
    except duckdb.Error as error:
        raise explained(error) from error
    if relation is None:
        raise UsageError("the statement gives no rows; write one SELECT statement")
    return relation


class Answer:
    """The answer to one SELECT, in batches.

    DuckDB does not always heed a signal while it computes, so it works in a thread of its own: Ctrl-C ends the query.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, query: str, batch_rows: int) -> None:
        self._connection = connection
        self._reader = self._waiting(lambda: ask(connection, query).to_arrow_reader(batch_rows))
        self.schema: pa.Schema = self._reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches.

        Raises:
            ArrowException, OSError: the query failed; whatever fails while the answer streams comes as one of these.
        """
        while (batch := self._waiting(lambda: next(self._reader, None))) is not None:
            yield batch

    def _waiting(self, step: Callable[[], T]) -> T:
        with ThreadPoolExecutor(1) as thread:
            result = thread.submit(step)
            try:
                while not result.done():
                    wait([result], SIGNAL_SECONDS)
            except KeyboardInterrupt:
                self._connection.interrupt()
                raise
            return result.result()


def explained(error: duckdb.Error) -> CommandError:
    """What DuckDB says, for people."""
    message = str(error).split("\n\n")[0]
    absent = ABSENT.search(message)
    if absent:
        name = absent[1]
        if name.lower().removesuffix(CURRENT) in TABLES:
            return CommandError(
                f"the table {name} does not exist yet; `scorehouse run` makes it, `scorehouse tables` lists"
            )
        return UsageError(f"there is no table {name}; `scorehouse tables` lists what exists")
    if isinstance(error, duckdb.PermissionException):
        return UsageError(f"a query reads the tables only, no files and no network ({message})")
    return UsageError(message)


def _comment(connection: duckdb.DuckDBPyConnection, contract: type[Contract]) -> None:
    for column, text in descriptions(contract).items():
        quoted = text.replace("'", "''")
        connection.execute(f"COMMENT ON COLUMN {table_name(contract)}.\"{column}\" IS '{quoted}'")
