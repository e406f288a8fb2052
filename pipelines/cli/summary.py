"""What a run did, told to people and to programs.

Here: rendering. Not here: counting (`pipelines.run`).
"""

from collections.abc import Sequence
from typing import Any

from pipelines.checks import Warned
from pipelines.cli.output import print_table, say
from pipelines.summary import RunSummary

MEGA = 1_000_000
EXAMPLES = 3  # of what a check warns about; the web interface and JSON show more


def as_json(summary: RunSummary) -> dict[str, Any]:
    """Every figure of the summary."""
    return {
        "days": summary.days,
        "rules": summary.rules,
        "listed": summary.listed,
        "fetched": summary.fetched,
        "unchanged": summary.unchanged,
        "vanished": summary.vanished,
        "bytes_fetched": summary.bytes_fetched,
        "quarantined": [
            {"stage": stage, "reason": reason, "documents": documents}
            for (stage, reason), documents in sorted(summary.quarantined.items())
        ],
        "attempts": summary.attempts,
        "identical_copies": summary.identical_copies,
        "classes": {rules: dict(sorted(classes.items())) for rules, classes in summary.classes.items()},
        "disagreements": summary.disagreements,
        "scored": {rules: dict(sorted(why.items())) for rules, why in summary.scored.items()},
        "fresh": summary.fresh,
        "without_attempts": summary.without_attempts,
        "outdated": summary.outdated,
        "compared": [{"campaign_key": key, "rules": rules} for key, rules in summary.compared],
        "computed": dict(summary.computed),
        "warnings": [warning._asdict() for warning in summary.warnings],
        "tables": dict(summary.tables),
        "seconds": round(summary.seconds, 3),
    }


def counted(number: int, one: str, several: str) -> str:
    """The number with its noun."""
    return f"{number} {one if number == 1 else several}"


def print_summary(summary: RunSummary) -> None:
    """Landing, quarantine, classes and reconciliation, in the order in which they come about."""
    if not summary.days:
        say("Nothing to do: the store has no artifacts of these days (it should hold <source>/<YYYY-MM-DD>/…).")
        return
    first, last = min(summary.days), max(summary.days)
    span = f"{len(summary.days)} days, {first} to {last}" if first < last else f"1 day, {first}"
    say(f"{span}, in {summary.seconds:.1f} s")
    say()
    say("Landed", style="bold")
    fetched = f"{summary.fetched} fetched ({summary.bytes_fetched / MEGA:.1f} MB)"
    gone = f", {summary.vanished} vanished" if summary.vanished else ""
    say(f"  {counted(summary.listed, 'object', 'objects')} listed: {fetched}, {summary.unchanged} unchanged{gone}")
    copies = counted(summary.identical_copies, "identical copy", "identical copies")
    say(f"  {counted(summary.attempts, 'attempt', 'attempts')}{f', and {copies}' if summary.identical_copies else ''}")
    say()
    say("Quarantined", style="bold")
    if summary.quarantined:
        rows = [(stage, reason, n) for (stage, reason), n in sorted(summary.quarantined.items())]
        print_table(["stage", "reason", "documents"], rows)
    else:
        say("  nothing")
    print_results(summary)


def print_results(summary: RunSummary) -> None:
    """What was scored and compared, what was left alone and why, and the classes of the days."""
    say()
    say("Scored", style="bold")
    for rules, why in summary.scored.items():
        told = ", ".join(f"{counted(n, 'day', 'days')}: {reason}" for reason, n in why.most_common())
        say(f"  under {rules} {told}")
    if summary.fresh:
        told = "complete, from the same code, rules and inputs"
        say(f"  {counted(summary.fresh, 'day was', 'days were')} left alone: {told}")
    if summary.without_attempts:
        say(f"  {counted(summary.without_attempts, 'day has', 'days have')} no attempts to score")
    if summary.compared:
        say(f"  {counted(len(summary.compared), 'comparison', 'comparisons')} made")
    for rules, classes in summary.classes.items():
        say()
        say(f"Verified under rule set {rules}", style="bold")
        total = sum(classes.values())
        print_table(["class", "attempts", "share"], [(c, n, f"{n / total:.0%}") for c, n in classes.most_common()])
    say()
    if summary.disagreements:
        told = counted(summary.disagreements, "figure that upstream recorded is", "figures that upstream recorded are")
        say(f"{told} not what the evidence gives (reconciliation)")
    print_warnings(summary.warnings)


def print_warnings(warnings: Sequence[Warned]) -> None:
    """Each check that warns once, with what should hold and the first cases in which it does not."""
    if warnings:
        say("Warnings", style="bold")
    for key in dict.fromkeys((one.table, one.check, one.expected) for one in warnings):
        same = [one for one in warnings if (one.table, one.check, one.expected) == key]
        table, check, expected = key
        problems = sum(one.problems for one in same)
        say(f"  {table} / {check}: {expected}", style="yellow")
        shown = [text for one in same for text in one.examples][:EXAMPLES]
        for text in shown:
            say(f"    {text}")
        if problems > len(shown):
            say(f"    and {problems - len(shown)} more")
