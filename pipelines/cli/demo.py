"""`scorehouse demo`: an example store, a full run over it, and what came out.

Here: the verb. Not here: the example store and where it may be written (`demo_store`), and what is shown of the results
(`demo_examples`).
"""

from typing import Annotated

import typer

import pipelines.run
from pipelines.campaigns import verdicts
from pipelines.cli import database, demo_store
from pipelines.cli.compare import print_verdicts
from pipelines.cli.demo_examples import EXAMPLES, NEXT
from pipelines.cli.options import verb
from pipelines.cli.output import print_table, say
from pipelines.cli.progress import progress
from pipelines.cli.summary import print_summary
from pipelines.settings import Settings, load

app = verb()


@app.command()
def demo(seed: Annotated[int, typer.Option(help="Another seed makes another store.")] = 1) -> None:
    """Make a seeded example store, run everything on it, and say what came out."""
    settings = load()
    artifacts, tables = (
        demo_store.own_folder(location, what)
        for location, what in ((settings.artifacts, "artifacts"), (settings.tables, "tables"))
    )
    demo_store.mark(tables)
    written = demo_store.write(artifacts, seed)
    say(f"An example store of {written} files is in {artifacts}; the tables go to {tables}.")
    with progress() as reporter:
        summary = pipelines.run.run(settings, progress=reporter)
    say()
    print_summary(summary)
    print_examples(settings)
    say()
    say("The registered campaigns, and the report of each", style="bold")
    print_verdicts(settings, verdicts(settings))
    say()
    say("What to try next", style="bold")
    for command in NEXT:
        say(f"  {command}")


def print_examples(settings: Settings) -> None:
    """The answers of every example."""
    for title, query in EXAMPLES:
        answer = database.ask(database.connect(settings, query), query)
        say()
        say(title, style="bold")
        print_table(answer.columns, answer.fetchall())
