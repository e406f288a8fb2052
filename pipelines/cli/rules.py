"""`scorehouse rules`: the rule sets there are, what differs between them, and the life of one from draft to retirement.

Here: the options, and what a person sees. Not here: the edits themselves (`assets.rulesets.editing`) and writing files
(`pipelines.rule_files`).
"""

from typing import Annotated, Any

import typer

import pipelines.plan
from assets.rulesets.differences import Difference, differences
from assets.rulesets.editing import rule_set_id, successor, with_status
from assets.rulesets.loader import RuleSet, RuleSetError, Status, active, as_table, current, load_all, parse, select
from pipelines import logs, rule_files
from pipelines.cli.changes import plan_json, print_plan
from pipelines.cli.options import From, Json, To, day_range, known_rules, span, verb
from pipelines.cli.output import json_text, print_json, print_table, say
from pipelines.cli.work import working
from pipelines.settings import load

DIGEST_SHOWN = 12
NEXT_OF_A_CANDIDATE = """\
Next: change its constants and its title, then
  scorehouse rules diff {predecessor} {id}     what differs
  scorehouse rules plan {id}        what it would change, without publishing anything
review and commit the file, and
  scorehouse rules activate {id}"""

app = verb("The rule sets: list, show, diff, new, activate, retire.", group=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="Rule set.")]


@app.command("list")
def list_(json: Json = False) -> None:
    """List the rule sets; `current` marks the one that the `_current` views show."""
    rule_sets = load_all(load().rulesets)
    chosen = current(rule_sets).id
    rows = [
        {
            "id": rules.id,
            "status": rules.status,
            "current": rules.id == chosen,
            "predecessor": rules.predecessor,
            "digest": rules.digest,
            "title": rules.title,
        }
        for rules in rule_sets.values()
    ]
    if json:
        print_json(rows)
        return
    print_table(
        list(rows[0]),
        [
            list({**row, "current": "yes" if row["current"] else "", "digest": rules.digest[:DIGEST_SHOWN]}.values())
            for row, rules in zip(rows, rule_sets.values(), strict=True)
        ],
    )


@app.command()
def show(rules_id: Id, json: Json = False) -> None:
    """Show every constant of a rule set."""
    [rules] = select(load_all(load().rulesets), [rules_id])
    if json:
        print_json({**dict(as_table(rules)), "digest": rules.digest})
        return
    say(f"{rules.id}  {rules.title}  (digest {rules.digest})")
    print_table(["constant", "value"], as_table(rules))


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="Rule set.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Rule set to compare with it.")],
    json: Json = False,
) -> None:
    """Show every constant that differs between two rule sets; of a list, what was removed and added."""
    found = differences(*select(load_all(load().rulesets), [before, after]))
    if json:
        print_json([difference._asdict() for difference in found])
    elif found:
        print_table(["constant", before, after], [(one.constant, *_shown(one)) for one in found])
    else:
        say(f"No constant differs between {before} and {after}.")


def _shown(difference: Difference) -> tuple[Any, Any]:
    if not (difference.removed or difference.added):
        return difference.before, difference.after
    return (
        f"removed {json_text(difference.removed)}" if difference.removed else None,
        f"added {json_text(difference.added)}" if difference.added else None,
    )


@app.command()
def new(
    rules_id: Id,
    from_: Annotated[str, typer.Option("--from", metavar="ID", help="Rule set to begin with: its predecessor.")],
    title: Annotated[str | None, typer.Option(help="What it changes, in a few words.")] = None,
) -> None:
    """Write a candidate: the predecessor's file under a new id, to be edited, in `rulesets` or among the project's."""
    team = load().rulesets
    rule_sets = load_all(team)
    id_ = rule_set_id(rules_id)
    [predecessor] = select(rule_sets, [from_])
    if id_ in rule_sets:
        raise RuleSetError(f"{rule_files.file_of(id_, team)}: rule set {id_} exists already; choose another id")
    source = rule_files.file_of(predecessor.id, team)
    text = successor(
        rule_files.read(source),
        str(source),
        predecessor=predecessor.id,
        id_=id_,
        title=title if title is not None else f"{predecessor.id} with changes",
    )
    file = (team or rule_files.PROJECT) / f"{id_}.toml"
    parse(text, str(file))
    rule_files.create(file, text)
    say(f"{file}: rule set {id_}, a candidate that begins as {predecessor.id}")
    _say_lines(NEXT_OF_A_CANDIDATE.format(id=id_, predecessor=predecessor.id))


@app.command()
def plan(rules_id: Id, from_: From = None, to: To = None, json: Json = False) -> None:
    """Compute what a backfill under a rule set would change against its predecessor; nothing is published."""
    settings = load()
    first, last = day_range(from_, to)
    with working("rules plan", settings, span(first, last)) as reporter:
        known_rules(settings, [rules_id])
        found = pipelines.plan.plan(settings, rules_id, first, last, reporter)
        logs.event("run_finished", verb="rules plan", **plan_json(found))
    if json:
        print_json(plan_json(found))
    else:
        print_plan(found)


@app.command()
def activate(rules_id: Id) -> None:
    """Make a rule set active: an edit of its file's status, which a person reviews; refused unless one is current."""
    _set_status(rules_id, "active")


@app.command()
def retire(rules_id: Id) -> None:
    """Retire a rule set: an edit of its file's status; its results stay, and new days are not scored under it."""
    _set_status(rules_id, "retired")


def _set_status(rules_id: str, status: Status) -> None:
    team = load().rulesets
    rule_sets = load_all(team)
    [rules] = select(rule_sets, [rules_id])
    file = rule_files.file_of(rules.id, team)
    if rules.status == status:
        say(f"{file}: rule set {rules.id} is {status} already; nothing was changed")
        return
    text = with_status(rule_files.read(file), str(file), status)
    edited = parse(text, str(file))
    after = {**rule_sets, rules.id: edited}
    try:
        chosen = current(after).id
    except RuleSetError as error:
        raise RuleSetError(f"rule set {rules.id} stays {rules.status}: were it {status}, {error}") from error
    rule_files.replace(file, text)
    say(f"{file}: rule set {rules.id} is {status}, it was {rules.status}; digest {edited.digest}, as before")
    say(f"active: {', '.join(active(after))}; current: {chosen}")
    _say_lines(_next_of(edited, own=file.is_relative_to(rule_files.PROJECT.resolve())))


def _next_of(rules: RuleSet, *, own: bool) -> str:
    lines = ["Next: review and commit the file"]
    if own:
        lines.append("  its digest is pinned in tests/assets/rulesets/test_loader.py from its first activation on")
    if rules.status == "active":
        lines.append(f"  scorehouse backfill --rules {rules.id}     score the days that are stored under it")
    return "\n".join(lines)


def _say_lines(text: str) -> None:
    for line in text.splitlines():
        say(line)
