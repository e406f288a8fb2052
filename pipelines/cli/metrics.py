"""`scorehouse metrics`: the state of the tables for a monitoring system.

Here: where the text goes. Not here: the figures (`pipelines.metrics`).
"""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

import pipelines.metrics
from pipelines.build import table_store
from pipelines.cli.files import write_text
from pipelines.cli.options import verb
from pipelines.settings import load

app = verb()


@app.command()
def metrics(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Replace this file at once, as node_exporter wants it.")
    ] = None,
) -> None:
    """Print OpenMetrics text: what landed, quarantined, attempts by class, and how old the newest of it is."""
    text = pipelines.metrics.text(table_store(load()), dt.datetime.now(dt.UTC))
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
