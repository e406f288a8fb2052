"""`scorehouse quarantine`: the documents that could not be used: which, where in them, and why.

Here: listing, showing, and telling what a replay did. Not here: what is a reason to quarantine (landing, the sources).
"""

from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import polars as pl
import typer

import pipelines.replay
from assets.landing.contract import Quarantine, RawArtifacts
from assets.vocabulary import QUARANTINE_STAGES
from pipelines import logs
from pipelines.cli.database import stored
from pipelines.cli.excerpt import Excerpt, excerpt
from pipelines.cli.options import Json, day, verb
from pipelines.cli.output import CommandError, UsageError, print_json, print_table, say
from pipelines.cli.summary import as_json, counted, print_results
from pipelines.cli.work import working
from pipelines.replay import Replayed
from pipelines.settings import Settings, load

SHOWN = 100
SHOWN_AT_ONCE = 20

Reason = Annotated[str | None, typer.Option(help="Only this reason.")]
Stage = Annotated[str | None, typer.Option(help=f"Only this stage: {', '.join(QUARANTINE_STAGES)}.")]
Source = Annotated[str | None, typer.Option(help="Only this source.")]
Day = Annotated[str | None, typer.Option("--day", metavar="D", help="Only this landing day.")]

app = verb("The documents that could not be used: list, show, replay.", group=True)


@app.command("list")
def list_(
    *,
    reason: Reason = None,
    stage: Stage = None,
    source: Source = None,
    on: Day = None,
    limit: Annotated[
        int | None, typer.Option(min=0, help=f"At most so many; 0: all. Default {SHOWN}, for --json all.")
    ] = None,
    json: Json = False,
) -> None:
    """List what is in quarantine, by landing day, document and place."""
    found = _rows(load(), _conditions(reason, stage, source, on))
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


@app.command()
def replay(
    *, reason: Reason = None, stage: Stage = None, source: Source = None, on: Day = None, json: Json = False
) -> None:
    """Decode quarantined documents again from their stored bytes, and say what left quarantine; results follow."""
    settings, conditions = load(), _conditions(reason, stage, source, on)
    with working("quarantine replay", settings, on or "every day") as reporter:
        found = pipelines.replay.replay(settings, conditions, reporter)
        logs.event("run_finished", verb="quarantine replay", **as_json(found.summary))
    if json:
        print_json({**asdict(found), "summary": as_json(found.summary)})
        return
    if found.days:
        say(f"{counted(len(found.days), 'day', 'days')} decoded again from the stored bytes")
        _print_replayed(found)
    else:
        say("Nothing in quarantine that could be decoded again.")
        if reason:
            there = sorted(set(pipelines.replay.quarantined(stored(settings), ())["reason"]))
            say(f"  Reasons in quarantine: {', '.join(there) or 'none'}")
    if found.without_bytes:
        never = counted(len(found.without_bytes), "document was", "documents were")
        say(f"  {never} never fetched; `scorehouse run` tries again")
    if found.summary.scored or found.summary.compared:
        print_results(found.summary)


def _print_replayed(found: Replayed) -> None:
    for what, rows in (("left quarantine", found.left), ("still there, for another reason", found.changed)):
        documents = len({(row["uri"], row["landed_on"]) for row in rows})
        say(f"  {counted(documents, 'document', 'documents')} {what}")
        for row in rows[:SHOWN]:
            say(f"    {row['landed_on']}  {row['stage']} {row['reason']}  {row['uri']}")
    say(f"  {counted(found.stayed, 'document', 'documents')} as before")


def _conditions(reason: str | None, stage: str | None, source: str | None, on: str | None) -> list[pl.Expr]:
    """What the options ask of a row.

    Raises:
        UsageError: there is no such stage, or the day is none.
    """
    if stage is not None and stage not in QUARANTINE_STAGES:
        raise UsageError(f"--stage {stage!r} is no stage; there are {', '.join(QUARANTINE_STAGES)}")
    wanted = {"reason": reason, "stage": stage, "source": source, "landed_on": day(on, "--day")}
    return [pl.col(name) == value for name, value in wanted.items() if value is not None]


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
