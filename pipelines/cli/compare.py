"""`scorehouse compare`: campaigns compared anew, or what is stored checked against what it was made from.

Here: the options, and what a person sees. Not here: the comparison (`assets.campaigns`) and running it
(`pipelines.run`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

import pipelines.run
from pipelines import logs
from pipelines.build import report_store
from pipelines.campaigns import Checked, check, verdicts
from pipelines.cli.options import Json, Rules, known_rules, verb
from pipelines.cli.output import UsageError, print_json, print_table, say
from pipelines.cli.summary import as_json
from pipelines.cli.work import working
from pipelines.settings import Settings, load

DIFFERENT = 1
FIGURES = ("campaign_id", "rules", "verdict", "effect", "ci_low", "ci_high", "pairs", "numeric_pairs")
DIGITS = 4  # of a figure for people; JSON has them all

app = verb()


@app.command()
def compare(
    campaign: Annotated[list[str] | None, typer.Argument(help="Id or key of a campaign; default every one.")] = None,
    rules: Rules = None,
    check_: Annotated[
        bool, typer.Option("--check", help="Recompute what is stored, write nothing; exit status 1 if it differs.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare the arms of registered campaigns under the active rule sets, and write their reports."""
    settings, campaigns, wanted = load(), campaign or [], rules or []
    if check_:
        with known_campaigns():
            _told(check(settings, campaigns, wanted), json=json)
        return
    with working("compare", settings, ", ".join(campaigns) or "every campaign") as reporter, known_campaigns():
        known_rules(settings, wanted)
        summary = pipelines.run.compare(settings, campaigns, wanted, reporter)
        logs.event("run_finished", verb="compare", **as_json(summary))
    rows = verdicts(settings, campaigns, wanted)
    if json:
        print_json(rows)
    else:
        print_verdicts(settings, rows)


@contextmanager
def known_campaigns() -> Iterator[None]:
    """A campaign that is not registered is named wrongly."""
    try:
        yield
    except pipelines.run.UnknownCampaignError as error:
        raise UsageError(str(error)) from error


def print_verdicts(settings: Settings, rows: list[dict[str, Any]]) -> None:
    """Each verdict with its reasons, and where its report is."""
    if not rows:
        say("No campaign is registered: a registration is a file in the folder campaigns/ of the artifact store.")
        return
    print_table(FIGURES, [tuple(_shown(row[name]) for name in FIGURES) for row in rows])
    reports = report_store(settings)
    for row in rows:
        why = f" ({', '.join(row['reasons'])})" if row["reasons"] else ""
        say(f"  {row['campaign_id']} under {row['rules']}: {row['verdict']}{why}")
        say(f"    {reports.uri(row['campaign_key'], row['rules'])}")
        if row["withdrawn"]:
            say("    its registration is no longer in the store", style="yellow")


def _shown(value: Any) -> Any:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value


def _told(found: list[Checked], *, json: bool) -> None:
    differing = [one for one in found if one.differing]
    if json:
        print_json([one._asdict() for one in found])
    else:
        say("different" if differing else "identical")
        for one in differing:
            say(f"  {one.campaign_id} under {one.rules}: {', '.join(one.differing)}")
    if differing:
        raise typer.Exit(DIFFERENT)
