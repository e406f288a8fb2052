"""The example store: what `scorehouse demo` lands. The same seed gives the same bytes on every machine.

Here: which files there are (all document shapes, copies, replays, broken files), and writing them. Not here: the
attempts themselves (`demo_attempts`).
"""

import datetime as dt
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipelines.cli.demo_attempts import COMPANIES, TASKS, Task, attempt, generator
from pipelines.cli.demo_plots import PLOTS, Document
from pipelines.cli.output import UsageError

DAYS = tuple(dt.date(2026, 9, day) for day in (14, 15, 16))
MARKER = ".scorehouse-demo"
"""A file with this name says that a folder is the demo's own, and may be written again."""

# In which shape an attempt that was verified arrives: evidence mostly, and records of it.
SHAPES = ("full",) * 14 + ("finalizer", "harbor", "harbor", "summary", "full and harbor", "full and finalizer")
UTILITY_SCALE = {"active_paying_accounts": 100, "retained_accounts": 100, "recovery": 100}
MONEY_SCALE = 1_000_000


class StoredFile(NamedTuple):
    """One object of the store."""

    key: str
    content: bytes
    modified: dt.datetime


class Planned(NamedTuple):
    """One attempt before it is played."""

    campaign_id: str | None
    arm_id: str
    task: Task
    company_index: int
    repeat: int
    day: dt.date


def plan() -> Iterator[Planned]:
    """Two campaigns with two arms each, and some attempts outside any campaign."""
    for index, _company in enumerate(COMPANIES):
        for arm in ("control", "treatment"):
            for task in TASKS[:4]:
                for repeat in (1, 2):
                    yield Planned("cmp-pricing-2026-09", arm, task, index, repeat, DAYS[repeat - 1])
            for task in TASKS[4:]:
                for repeat in (1, 2, 3):
                    yield Planned("cmp-operations-2026-09", arm, task, index, repeat, DAYS[repeat - 1])
        for task in TASKS[::2]:
            yield Planned(None, "control", task, index, 1, DAYS[2])


def files(seed: int = 1) -> list[StoredFile]:
    """Every file of the store, sorted by key."""
    made = [*_attempts(seed)]
    sound = [document for _planned, document in made if document.get("verification", {}).get("eligible")]
    arrived = [*_arrivals(made, seed)]
    copied = next(file for file in arrived if file.key.startswith(f"worldseq/{DAYS[0]}/cmp-"))
    copy = copied._replace(key=f"worldseq/{DAYS[0]}/replayed/a copy.json")
    return sorted([*arrived, copy, *_curiosities(sound[0]), *_broken(sound[1])])


def own_folder(location: str, what: str) -> Path:
    """The folder, if a demo may write there: a local one that is absent, empty, or an earlier demo's.

    Raises:
        UsageError: it may not; nothing has been written.
    """
    path = Path(location.removeprefix("file://"))
    if "://" in location and not location.startswith("file://"):
        raise UsageError(f"{location}: the demo writes into local folders only; unset SCOREHOUSE_{what.upper()}")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: is no folder; set SCOREHOUSE_{what.upper()} to one that the demo may fill")
    if path.exists() and any(path.iterdir()) and not (path / MARKER).exists():
        raise UsageError(
            f"{path}: holds {what} that are not a demo's; set SCOREHOUSE_{what.upper()} to an empty folder"
        )
    return path


def mark(folder: Path) -> None:
    """Make the folder the demo's own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("Made by `scorehouse demo`; safe to delete.\n", encoding="utf-8")


def write(folder: Path, seed: int = 1) -> int:
    """Write the store below `folder` and return the number of its files; what is there already stays untouched.

    The marker comes first, so that an interrupted demo knows its own folder again.
    """
    mark(folder)
    stored = files(seed)
    for file in stored:
        path = folder / file.key
        if path.is_file() and path.read_bytes() == file.content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        seconds = file.modified.timestamp()
        os.utime(path, (seconds, seconds))  # precedence looks at it: equal on every machine
    return len(stored)


def _attempts(seed: int) -> Iterator[tuple[Planned, Document]]:
    rng = generator(seed, "deck")
    decks: dict[str, list[str]] = {task.family: [] for task in TASKS}
    for number, planned in enumerate(plan(), start=1):
        deck = decks[planned.task.family]
        if not deck:
            deck += [name for name, plot in PLOTS.items() if plot.suits(planned.task.family) for _ in range(plot.cards)]
            rng.shuffle(deck)
        company = COMPANIES[planned.company_index]
        start = dt.datetime.combine(planned.day, dt.time(1), dt.UTC) + dt.timedelta(seconds=rng.randrange(0, 60_000))
        identity = {
            "attemptId": f"att-{number:04d}",
            "campaignId": planned.campaign_id,
            "armId": planned.arm_id,
            "familyId": planned.task.family,
            "companyId": company.company_id,
            "taskId": planned.task.task_id,
            "scenarioId": f"s{planned.company_index % 2 + 1}",
            "repeat": planned.repeat,
            "agent": {
                "name": "planner",
                "version": "2.1" if planned.arm_id == "treatment" else "2.0",
                "model": "m-large" if planned.arm_id == "treatment" else "m-small",
            },
            "startedAt": _rfc3339(start),
            "finishedAt": _rfc3339(start + dt.timedelta(seconds=rng.randrange(900, 6_400))),
        }
        yield planned, attempt(identity, planned.task, company, deck.pop(), seed)


def _arrivals(made: list[tuple[Planned, Document]], seed: int) -> Iterator[StoredFile]:
    rng = generator(seed, "shapes")
    cases: dict[dt.date, list[Document]] = {}
    for planned, document in made:
        attempt_id = document["attempt"]["attemptId"]
        folder = planned.campaign_id or "exploratory"
        shape = SHAPES[rng.randrange(len(SHAPES))] if document.get("verification", {}).get("verified") else "full"
        if "full" in shape:
            yield _file(planned.day, f"{folder}/{attempt_id}.json", document)
        if "finalizer" in shape:
            later = min(planned.day + dt.timedelta(days=1), DAYS[-1])
            yield _file(later, f"finalizer/{attempt_id}.json", _finalizer(document))
        if "harbor" in shape:
            yield _file(planned.day, f"harbor/{attempt_id}/result.json", _harbor(document))
            yield _file(planned.day, f"harbor/{attempt_id}/reward.json", _reward_file(document))
        if shape == "summary":
            cases.setdefault(planned.day, []).append(
                {"attempt": document["attempt"], "verification": document["verification"]}
            )
    for day, entries in cases.items():
        yield _file(day, "evaluations/nightly.json", _summary(entries))


def _finalizer(document: Document) -> Document:
    return {part: document[part] for part in ("attempt", "verification", "finalization")}


def _harbor(document: Document) -> Document:
    return {
        "attempt": document["attempt"],
        **document["verification"],
        "finalization": document["finalization"],
        "reward": _utility(document),
    }


def _reward_file(document: Document) -> Document:
    return {
        "reward": _utility(document),
        "eligible": int(document["verification"]["eligible"]),
        "verified": 1,
        "primary_value": document["verification"]["primaryValue"],
        "reward_transform_version": 1,
    }


def _utility(document: Document) -> float:
    recorded = document["verification"]
    value = recorded["primaryValue"]
    scale = UTILITY_SCALE.get(recorded["primaryMetric"], MONEY_SCALE)
    return 1 + 0.5 * value / (scale + abs(value)) if recorded["eligible"] else 0.0


def _summary(cases: list[Document]) -> Document:
    return {
        "cases": cases,
        "completed": len(cases),
        "failed": 0,
        "usage": {"playerCalls": 450 * len(cases), "reportedTokens": 800_000 * len(cases)},
    }


def _curiosities(document: Document) -> Iterator[StoredFile]:
    """Unusual files that are nevertheless sound, or that lose to another one of the same attempt."""
    optimistic = _renamed(document, "att-optimist")
    optimistic["trajectory"][7]["minCashCents"] = -250_000
    optimistic["verification"] = {**optimistic["verification"], "verified": True, "eligible": True}
    yield _file(DAYS[1], "exploratory/recorded as eligible.json", optimistic)
    hostile = _renamed(document, "att <script>alert(1)</script> \U0001f916")
    hostile["attempt"]["agent"] = {"name": "=HYPERLINK(0)", "version": "+1", "model": "[bold]m\u202e-large[/bold]"}
    yield _file(DAYS[1], 'exploratory/na\u00efve "agent" #1 100%.json', hostile)
    unknown = _renamed(document, "att-unknown-kind")
    unknown["task"] = {
        **unknown["task"],
        "constraints": [*unknown["task"]["constraints"], {"id": "esg", "kind": "carbon_budget", "maxKg": 12}],
    }
    yield _file(DAYS[2], "exploratory/new kind of constraint.json", unknown)
    marked = _file(DAYS[2], "exploratory/byte order mark.json", _renamed(document, "att-bom"))
    yield marked._replace(content=b"\xef\xbb\xbf" + marked.content)
    rerun = _renamed(document, "att-twice")
    yield _file(DAYS[2], "exploratory/twice-1.json", rerun)
    later = {**rerun, "finalization": {"status": "completed", "finalizedAt": _rfc3339(_noon(DAYS[2]))}}
    yield _file(DAYS[2], "exploratory/twice-2.json", later)


def _broken(document: Document) -> Iterator[StoredFile]:
    """Files that end in quarantine, each for a reason of its own."""
    whole = _json(_renamed(document, "att-broken"))

    def changed(name: str, old: str, new: str) -> StoredFile:
        text = whole.decode()
        if old not in text:
            raise ValueError(f"the example store has no {old!r} to break")
        return _file(DAYS[2], f"broken/{name}.json", None, text.replace(old, new, 1).encode())

    yield _file(DAYS[2], "broken/truncated.json", None, whole[: len(whole) // 2])
    yield _file(DAYS[2], "broken/empty.json", None, b"")
    yield _file(DAYS[2], "broken/error page.json", None, b"<html><body>502 Bad Gateway</body></html>\n")
    yield _file(DAYS[2], "broken/latin-1.json", None, '{"format": "caf\u00e9"}'.encode("latin-1"))
    yield _file(DAYS[2], "broken/deep.json", None, b"[" * 20_000 + b"]" * 20_000)
    yield _file(DAYS[2], "broken/another tool.json", None, b'{"hello": "world", "version": 3}\n')
    yield _file(DAYS[2], "broken/lonely/reward.json", _reward_file(document))
    yield changed("not a number", '"minCents":0', '"minCents":NaN')
    yield changed("overflow", '"shortfallUnits":', '"shortfallUnits":1e999,"was":')
    yield changed("fractional cents", '"spendCents":0', '"spendCents":0.5')
    yield changed("days as float", f'"horizonDays":{document["task"]["horizonDays"]}', '"horizonDays":30.0')
    yield changed("too much money", '"cashCents":', f'"cashCents":{10**13 + 1},"was":')
    yield changed("no identity", '"attemptId":', '"attempt_id":')
    yield changed("new outcome", '"outcome":"completed"', '"outcome":"mostly completed"')
    yield changed("day twice", '"day":2,', '"day":1,')
    yield changed("constraint twice", '"id":"floor"', '"id":"budget"')
    yield StoredFile("worldseq/2026-02-30/no such day.json", whole, _noon(DAYS[2]))


def _renamed(document: Document, attempt_id: str) -> Document:
    copy: Document = json.loads(_json(document))
    copy["attempt"]["attemptId"] = attempt_id
    return copy


def _file(day: dt.date, name: str, document: Mapping[str, Any] | None, content: bytes | None = None) -> StoredFile:
    return StoredFile(f"worldseq/{day}/{name}", _json(document) if content is None else content, _noon(day))


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _noon(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(12), dt.UTC)


def _rfc3339(moment: dt.datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
