"""`scorehouse run`: land, verify and score, in one process.

Here: the options, and what a person sees. Not here: the run itself (`pipelines.run`).
"""

from typing import Annotated

import typer

import pipelines.run
from assets.sources.registry import patterns
from pipelines.cli.options import From, Json, Rules, To, day_range, verb
from pipelines.cli.output import UsageError, print_json
from pipelines.cli.progress import progress
from pipelines.cli.summary import as_json, print_summary
from pipelines.settings import load

app = verb()


@app.command()
def run(
    from_: From = None,
    to: To = None,
    rules: Rules = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source. May be repeated.")] = None,
    json: Json = False,
) -> None:
    """Land new artifacts, verify them, and score them; bad artifacts are reported and stop nothing."""
    settings = load()
    first, last = day_range(from_, to)
    try:
        patterns(settings.patterns, source or [])
    except ValueError as error:
        raise UsageError(f"--source: {error}") from error
    with progress() as reporter:
        summary = pipelines.run.run(settings, first, last, rules or [], source or [], reporter)
    if json:
        print_json(as_json(summary))
    else:
        print_summary(summary)
