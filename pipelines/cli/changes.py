"""What a rule set changes, as people and programs are shown it.

Here: the summary of `rule_changes`, and a plan, in lines and as JSON. Not here: counting
(`assets.reconciliation.change_summary`, `pipelines.plan`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from assets.reconciliation.change_summary import Counts, Summary
from pipelines.cli.output import print_table, say
from pipelines.cli.summary import counted
from pipelines.plan import RulePlan

SHOWN = 5
FLIPS = ("campaign_id", "before", "after")
NO_CAMPAIGN = "(no campaign)"
COLUMNS = ("campaign", "attempts", "class", "primary_value", "reward", "classes", "predicates")


def print_changes(summary: Summary) -> None:
    """How many attempts change in what, and by which predicates, overall and per campaign."""
    if not summary.overall.attempts:
        say("No attempt changes its class, its primary value or its reward.")
        return
    campaigns = [(id_ if id_ is not None else NO_CAMPAIGN, counts) for id_, counts in summary.campaigns.items()]
    print_table(COLUMNS, [_row(name, counts) for name, counts in [*campaigns, ("all", summary.overall)]])


def print_outdated(predecessor: str, days: int) -> None:
    """That the comparison is with results which are stale themselves, and what to do; nothing where none is."""
    if days:
        told = counted(days, "day's results", "days' results")
        say(f"  {told} under {predecessor} are stale: first scorehouse backfill --rules {predecessor}", style="yellow")


def changes_json(summary: Summary) -> dict[str, Any]:
    """The summary with a list of campaigns: an object cannot have null for a name."""
    return {
        "overall": _json(summary.overall),
        "campaigns": [{"campaign_id": id_, **_json(counts)} for id_, counts in summary.campaigns.items()],
    }


def _json(counts: Counts) -> dict[str, Any]:
    return {"class" if name == "class_" else name: value for name, value in asdict(counts).items()}


def _row(name: str, counts: Counts) -> Sequence[object]:
    classes = (f"{one.before or 'none'} → {one.after or 'none'} {one.attempts}" for one in counts.classes)
    predicates = (f"{one.predicate_id} {one.attempts}" for one in counts.predicates)
    figures = (counts.attempts, counts.class_, counts.primary_value, counts.reward)
    return (name, *figures, _shown(classes), _shown(predicates))


def _shown(told: Iterable[str]) -> str:
    """The first few, and how many more there are; JSON has them all."""
    first = list(told)
    more = len(first) - SHOWN
    return ", ".join([*first[:SHOWN], *([f"and {more} more"] if more > 0 else [])])


def print_plan(plan: RulePlan) -> None:
    """What a backfill would compute, what would change, and which campaigns would come to another verdict."""
    days, attempts = counted(plan.partitions, "day", "days"), counted(plan.attempts, "attempt", "attempts")
    say(f"A backfill under {plan.rules} would compute {days} with {attempts}; nothing was published.")
    if not plan.days:
        say("  the attempts layer has none of these days; `scorehouse run` lands and decodes them")
    if plan.fresh:
        say(f"  {counted(plan.fresh, 'day is', 'days are')} complete already and would be left alone")
    if plan.not_compared:
        days = counted(len(plan.not_compared), "day has", "days have")
        say(f"  {days} no results under {plan.predecessor}: not compared")
    say()
    say(f"Changed under {plan.rules} against {plan.predecessor}", style="bold")
    print_outdated(plan.predecessor, len(plan.outdated))
    print_changes(plan.changes)
    say()
    say("Verdicts of campaigns", style="bold")
    if plan.flips:
        print_table(FLIPS, [(one.campaign_id, one.before or "none", one.after) for one in plan.flips])
    else:
        say(f"  none of {counted(plan.campaigns, 'campaign', 'campaigns')} would flip")


def plan_json(plan: RulePlan) -> dict[str, Any]:
    """Every figure of a plan."""
    return {**asdict(plan), "changes": changes_json(plan.changes)}
