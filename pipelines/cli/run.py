"""`scorehouse run`: land, verify and score, in one process.

Here: the options, and what a person sees. Not here: the run itself (`pipelines.run`).
"""

from typing import Annotated

import typer

import pipelines.run
from assets.sources.registry import patterns
from pipelines import logs
from pipelines.cli.options import From, Json, Rules, To, day_range, known_rules, span, verb
from pipelines.cli.output import UsageError, print_json
from pipelines.cli.summary import as_json, print_summary
from pipelines.cli.work import working
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
    with working("run", settings, span(first, last)) as reporter:
        known_rules(settings, rules or [])
        summary = pipelines.run.run(settings, first, last, rules or [], source or [], reporter)
        logs.event("run_finished", verb="run", **as_json(summary))
    if json:
        print_json(as_json(summary))
    else:
        print_summary(summary)
