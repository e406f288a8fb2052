"""`scorehouse quarantine`: the documents that could not be used: which, where in them, and why.

Here: listing and showing. Not here: what is a reason to quarantine (landing and the sources).
"""

from collections import Counter
from typing import Annotated, Any

import polars as pl
import typer

from assets.landing.contract import Quarantine, RawArtifacts
from assets.vocabulary import QUARANTINE_STAGES
from pipelines.cli.database import stored
from pipelines.cli.excerpt import Excerpt, excerpt
from pipelines.cli.options import Json, day, verb
from pipelines.cli.output import CommandError, UsageError, print_json, print_table, say
from pipelines.settings import Settings, load

SHOWN = 100
SHOWN_AT_ONCE = 20

app = verb("The documents that could not be used: list, show.", group=True)


@app.command("list")
def list_(
    *,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
    stage: Annotated[str | None, typer.Option(help=f"Only this stage: {', '.join(QUARANTINE_STAGES)}.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    on: Annotated[str | None, typer.Option("--day", metavar="D", help="Only this landing day.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, help=f"At most so many; 0: all. Default {SHOWN}, for --json all.")
    ] = None,
    json: Json = False,
) -> None:
    """List what is in quarantine, by landing day, document and place."""
    if stage is not None and stage not in QUARANTINE_STAGES:
        raise UsageError(f"--stage {stage!r} is no stage; there are {', '.join(QUARANTINE_STAGES)}")
    wanted = {"reason": reason, "stage": stage, "source": source, "landed_on": day(on, "--day")}
    found = _rows(load(), [pl.col(name) == value for name, value in wanted.items() if value is not None])
    most = limit or (None if json or limit == 0 else SHOWN)
    if json:
        print_json(found.head(found.height if most is None else most).to_dicts())
        return
    shown = found.head(found.height if most is None else most)
    columns = ["landed_on", "stage", "reason", "path", "uri", "detail"]
    if shown.height:
        print_table(columns, shown.select(columns).iter_rows())
        say()
    counts = Counter(f"{row['stage']} {row['reason']}" for row in found.iter_rows(named=True))
    say(f"{found.height} in quarantine" + "".join(f", {n} x {what}" for what, n in counts.most_common()))
    if shown.height < found.height:
        say(f"showing {shown.height} of them; --limit 0 shows all")


@app.command()
def show(
    document: Annotated[str, typer.Argument(metavar="URI", help="A document's uri, or a part of it.")],
    json: Json = False,
) -> None:
    """Show what is wrong with a document, and the stored bytes around it."""
    settings = load()
    found = _rows(settings, [pl.col("uri") == document])
    if found.is_empty():
        found = _rows(settings, [pl.col("uri").str.contains(document, literal=True)])
    if found.is_empty():
        raise CommandError(f"nothing in quarantine has {document!r} in its uri; see scorehouse quarantine list")
    if found.height > SHOWN_AT_ONCE:
        raise UsageError(f"{found.height} entries have {document!r} in their uri; name one document whole")
    contents = _contents(settings, found)
    shown = []
    for row in found.iter_rows(named=True):
        content = contents.get((row["uri"], row["sha256"]))
        shown.append((row, None if content is None else excerpt(content, row["path"])))
    if json:
        print_json([{**row, "excerpt": part and part._asdict()} for row, part in shown])
        return
    for row, part in shown:
        _print(row, part)


def _rows(settings: Settings, conditions: list[pl.Expr]) -> pl.DataFrame:
    tables = stored(settings)
    if not tables.exists(Quarantine):
        raise CommandError(f"{tables.uri(Quarantine)}: there is no quarantine yet; `scorehouse run` makes it")
    kept = tables.scan(Quarantine).filter(*conditions)
    return kept.sort("landed_on", "uri", "path", "reason", maintain_order=True).collect()


def _contents(settings: Settings, found: pl.DataFrame) -> dict[tuple[str, str | None], bytes]:
    """The stored bytes of the documents by (uri, sha256); by (uri, null) the latest."""
    arrivals = (
        stored(settings)
        .scan(RawArtifacts)
        .filter(
            pl.col("landed_on").is_in(found["landed_on"].unique().to_list()),
            pl.col("uri").is_in(found["uri"].unique().to_list()),
            pl.col("content").is_not_null(),
        )
        .select("uri", "sha256", "content", "ingested_at")
        .collect(engine="streaming")
        .sort("ingested_at")
    )
    contents: dict[tuple[str, str | None], bytes] = {}
    for uri, sha256, content, _ in arrivals.iter_rows():
        contents[uri, sha256] = contents[uri, None] = content
    return contents


def _print(row: dict[str, Any], part: Excerpt | None) -> None:
    say(row["uri"], style="bold")
    say(f"  landed on {row['landed_on']}, source {row['source']}")
    say(f"  {row['stage']}: {row['reason']}" + (f" at {row['path']}" if row["path"] else ""))
    if row["detail"]:
        say(f"  {row['detail']}")
    if part is None:
        say("  its bytes are not stored")
    else:
        say(f"  from byte {part.at} on, marked by ^:")
        say(f"    {part.before}{part.after}")
        say(f"    {' ' * len(part.before)}^")
    say()
