"""`scorehouse sql`: one SELECT over the tables, printed or written as a table, JSON, CSV or Parquet.

Here: the formats. Not here: the views and what a query may do (`database`).
"""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from pipelines.cli import database
from pipelines.cli.database import Answer
from pipelines.cli.files import destination
from pipelines.cli.options import moment, verb
from pipelines.cli.output import CommandError, UsageError, inert, json_text, print_table, to_json
from pipelines.settings import load

BATCH_ROWS = 10_000
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

app = verb()


class Format(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


@app.command()
def sql(
    query: Annotated[
        str, typer.Argument(help="One SELECT statement; views are named as the tables, and <table>_current.")
    ],
    format_: Annotated[Format, typer.Option("--format", help="How to write the answer.")] = Format.TABLE,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
    excel_safe: Annotated[
        bool, typer.Option("--excel-safe", help="CSV: put ' before text that a spreadsheet would take for a formula.")
    ] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Read the tables as they were at this time (UTC).")
    ] = None,
) -> None:
    """Answer one SELECT over the tables.

    `<table>_current` holds one row set per attempt across landing days, of the current rule set. List and struct cells
    are JSON in CSV; binary values are base64; times are UTC.
    """
    if excel_safe and format_ is not Format.CSV:
        raise UsageError("--excel-safe concerns CSV; add --format csv")
    if format_ is Format.PARQUET and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is binary; add -o FILE or redirect the output")
    connection = database.connect(load(), query, moment(as_of, "--as-of"))
    try:
        answer = database.Answer(connection, query, BATCH_ROWS)
        if format_ is Format.PARQUET:
            _write_parquet(answer, output)
        else:
            with _text(output) as file:
                WRITERS[format_](answer, file, excel_safe)
    except duckdb.Error as error:
        raise database.explained(error) from error
    except pa.ArrowException as error:
        raise CommandError(f"the answer cannot be written as {format_}: {error}") from error
    except OSError as error:
        if output is None:
            raise
        raise CommandError(f"{output}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _text(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    with destination(output) as path, path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        yield file


def _batches(answer: Answer) -> Iterator[pa.RecordBatch]:
    try:
        yield from answer
    except (pa.ArrowException, OSError) as error:
        raise CommandError(f"the query failed: {error}") from error


def _rows(answer: Answer) -> Iterator[list[Any]]:
    for batch in _batches(answer):
        yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _write_table(answer: Answer, file: IO[str], _: bool) -> None:
    print_table(answer.schema.names, _rows(answer), None if file is sys.stdout else file)


def _write_json(answer: Answer, file: IO[str], _: bool) -> None:
    names = answer.schema.names
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise UsageError(f"two columns are named {min(doubled)}; give one another name with AS")
    file.write("[")
    separator = "\n"
    for row in _rows(answer):
        file.write(separator + json_text(dict(zip(names, row, strict=True))))
        separator = ",\n"
    file.write("\n]\n")


def _write_csv(answer: Answer, file: IO[str], excel_safe: bool) -> None:
    # On a terminal the text must be inert; in a pipe or a file it is what the tables hold.
    shown = inert if file.isatty() else str
    writer = csv.writer(file)
    writer.writerow([shown(_defused(name, excel_safe)) for name in answer.schema.names])
    for row in _rows(answer):
        writer.writerow([shown(_csv_cell(value, excel_safe)) for value in row])


def _csv_cell(value: Any, excel_safe: bool) -> str:
    if isinstance(value, str):
        return _defused(value, excel_safe)
    plain = to_json(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else json_text(plain)


def _defused(text: str, excel_safe: bool) -> str:
    return f"'{text}" if excel_safe and text.startswith(FORMULA_STARTS) else text


def _write_parquet(answer: Answer, output: Path | None) -> None:
    if output is None:
        _copy(answer, sys.stdout.buffer)
        return
    with destination(output) as path, path.open("wb") as file:
        _copy(answer, file)


def _copy(answer: Answer, file: IO[bytes]) -> None:
    with pq.ParquetWriter(file, answer.schema) as writer:
        for batch in _batches(answer):
            writer.write_batch(batch)


WRITERS = {Format.TABLE: _write_table, Format.JSON: _write_json, Format.CSV: _write_csv}
