"""`scorehouse report`: the report of a campaign. Not here: what stands in it (`assets.campaigns.report`)."""

from pathlib import Path
from typing import Annotated

import typer

import pipelines.run
from assets.rulesets.loader import current, load_all, select
from pipelines.build import report_store, table_store
from pipelines.cli.files import write_text
from pipelines.cli.options import verb
from pipelines.cli.output import UsageError, say
from pipelines.settings import load

app = verb()


@app.command()
def report(
    campaign: Annotated[str, typer.Argument(help="Id or key of the campaign.")],
    rules: Annotated[str | None, typer.Option(help="Rule set; default the current one.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
) -> None:
    """Say where the report of a campaign is, or write it to a file: one HTML page that needs no network."""
    settings = load()
    rule_sets = load_all(settings.rulesets)
    wanted = select(rule_sets, [rules])[0] if rules else current(rule_sets)
    try:
        (key,) = pipelines.run.registered(table_store(settings), [campaign])
    except pipelines.run.UnknownCampaignError as error:
        raise UsageError(str(error)) from error
    reports = report_store(settings)
    text = reports.read(key, wanted.id)
    if output is None:
        say(reports.uri(key, wanted.id))
        return
    write_text(output, text)
    say(f"{output}: written")
