"""`scorehouse maintain`: the upkeep of the tables, told table by table.

Here: the figures. Not here: what is done (`pipelines.storage.upkeep`).
"""

from typing import Annotated, Any

import typer

from pipelines import logs
from pipelines.cli.options import Json, verb
from pipelines.cli.output import print_json, print_table, say
from pipelines.cli.work import working
from pipelines.maintenance import maintained
from pipelines.settings import load
from pipelines.storage.upkeep import Kept, State

app = verb()


@app.command()
def maintain(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    json: Json = False,
) -> None:
    """Compact small files, delete files and log that are older than the retention, and write checkpoints.

    No row changes, and nothing is computed again. What the tables were within the last `retention_days` can still be
    read; readers and writers may go on.
    """
    settings = load()
    with working("maintain", settings, "every table") as reporter:
        rows = [as_row(kept) for kept in maintained(settings, reporter, dry_run=dry_run)]
        logs.event("run_finished", verb="maintain", tables=rows)
    if json:
        print_json(rows)
        return
    if not rows:
        say(f"no tables yet below {settings.tables}; `scorehouse run` makes them")
        return
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    say()
    done = "would be kept" if dry_run else "is kept"
    say(f"what the tables were within {settings.retention_days} days {done}; `scorehouse sql --as-of` reads it")


def as_row(kept: Kept) -> dict[str, Any]:
    """The figures of a table by name."""
    stood = {"before": kept.before, "after": kept.after}
    figures = {f"{name}_{when}": getattr(state, name) for name in State._fields for when, state in stood.items()}
    return {"table": kept.table, **figures, "vacuumed": kept.vacuumed}
