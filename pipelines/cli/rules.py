"""`scorehouse rules`: the rule sets there are, and every constant of one."""

from typing import Annotated

import typer

from assets.rulesets.loader import as_table, current, load_all, select
from pipelines.cli.options import Json, verb
from pipelines.cli.output import print_json, print_table, say
from pipelines.settings import load

DIGEST_SHOWN = 12

app = verb("The rule sets: list, show.", group=True)


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
def show(rules_id: Annotated[str, typer.Argument(metavar="ID", help="Rule set.")], json: Json = False) -> None:
    """Show every constant of a rule set."""
    [rules] = select(load_all(load().rulesets), [rules_id])
    if json:
        print_json({**dict(as_table(rules)), "digest": rules.digest})
        return
    say(f"{rules.id}  {rules.title}  (digest {rules.digest})")
    print_table(["constant", "value"], as_table(rules))
