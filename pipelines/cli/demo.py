"""`scorehouse demo`: an example store, a full run over it, and what came out.

Here: how its results are told. Not here: the example store and where it may be written (`demo_store`).
"""

from typing import Annotated

import typer

import pipelines.run
from pipelines.cli import database, demo_store
from pipelines.cli.options import verb
from pipelines.cli.output import print_table, say
from pipelines.cli.progress import progress
from pipelines.cli.summary import print_summary
from pipelines.settings import Settings, load

WHY_INELIGIBLE = """
SELECT attempt_id, company_id AS company, task_id AS task, kind AS "failed predicate", predicate_id AS id, reason,
       observed, "limit", coalesce(first_breach_day, worst_day) AS day
FROM predicate_results_current JOIN attempts_current USING (attempt_id, landed_on)
WHERE predicate_results_current.outcome = 'fail'
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY attempt_id, predicate_id) = 1
ORDER BY kind
"""
DISAGREEMENTS = """
SELECT attempt_id, field, recorded, recomputed, reason
FROM reconciliation_current WHERE NOT agrees ORDER BY ALL LIMIT 5
"""
ARMS = """
SELECT campaign_id, arm_id, count(*) AS attempts, avg(eligible::INT) AS share_eligible
FROM verifications_current JOIN attempts_current USING (attempt_id) GROUP BY ALL ORDER BY ALL
"""
NEXT = (
    'scorehouse sql "SELECT class, count(*) FROM verifications_current GROUP BY ALL ORDER BY ALL"',
    f'scorehouse sql "{" ".join(ARMS.split())}"',
    "scorehouse sql \"SELECT * FROM predicate_results_current WHERE attempt_id = 'worldseq:att-optimist'\"",
    "scorehouse tables verifications",
    "scorehouse quarantine show broken/truncated.json",
    "scorehouse ui",
)

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
    say("What to try next", style="bold")
    for command in NEXT:
        say(f"  {command}")


def print_examples(settings: Settings) -> None:
    """One ineligible attempt for each kind of predicate that failed, and what upstream saw differently."""
    for title, query in (
        ("One attempt for each kind of predicate that failed", WHY_INELIGIBLE),
        ("Recorded by upstream, but not what the evidence gives", DISAGREEMENTS),
    ):
        connection = database.connect(settings, query)
        answer = database.ask(connection, query)
        say()
        say(title, style="bold")
        print_table(answer.columns, answer.fetchall())
