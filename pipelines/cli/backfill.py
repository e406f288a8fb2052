"""`scorehouse backfill`: score again what the attempts layer holds, under one or several rule sets.

Here: the options, and what a person sees. Not here: what is stale (`pipelines.staleness`) and the run
(`pipelines.run`).
"""

from typing import Annotated

import typer

import pipelines.run
from assets.rulesets.loader import load_all
from pipelines import logs
from pipelines.build import table_store
from pipelines.cli.changes import print_changes, print_outdated
from pipelines.cli.options import From, Json, Rules, To, day_range, known_rules, span, verb
from pipelines.cli.output import print_json, say
from pipelines.cli.summary import as_json, print_results
from pipelines.cli.work import working
from pipelines.plan import changed
from pipelines.settings import load

app = verb()


@app.command()
def backfill(
    *,
    rules: Rules = None,
    from_: From = None,
    to: To = None,
    force: Annotated[bool, typer.Option("--force", help="Compute what is complete, too.")] = False,
    json: Json = False,
) -> None:
    """Score from the attempts layer what is stale under these rule sets, newest day first; no artifact is read."""
    settings = load()
    first, last = day_range(from_, to)
    with working("backfill", settings, span(first, last)) as reporter:
        known_rules(settings, rules or [])
        summary = pipelines.run.backfill(settings, rules or [], first, last, reporter, force=force)
        logs.event("run_finished", verb="backfill", **as_json(summary))
    if json:
        print_json(as_json(summary))
        return
    if not summary.days:
        say("Nothing to score: the attempts layer has none of these days; `scorehouse run` lands and decodes them.")
        return
    print_results(summary)
    for one in load_all(settings.rulesets).values():
        if one.id in summary.rules and one.predecessor:
            say()
            say(f"Changed under {one.id} against {one.predecessor}", style="bold")
            print_outdated(one.predecessor, summary.outdated.get(one.predecessor, 0))
            print_changes(changed(table_store(settings), one.id, summary.days))
