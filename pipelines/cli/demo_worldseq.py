"""Worldseq files of the example store: all document shapes, copies, replays, and files that break.

Here: which of them there are, and in which shape each attempt arrives. Not here: the attempts themselves
(`demo_attempts`).
"""

import datetime as dt
import json
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.cli.demo_attempts import COMPANIES, TASKS, Task, attempt
from pipelines.cli.demo_files import DAYS, Document, StoredFile, as_json, generator, noon, rfc3339, stored
from pipelines.cli.demo_plots import PLOTS

# In which shape an attempt that was verified arrives: evidence mostly, and records of it.
SHAPES = ("full",) * 14 + ("finalizer", "harbor", "harbor", "summary", "full and harbor", "full and finalizer")
UTILITY_SCALE = {"active_paying_accounts": 100, "retained_accounts": 100, "recovery": 100}
MONEY_SCALE = 1_000_000


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
    """Every worldseq file."""
    made = [*_attempts(seed)]
    sound = [document for _planned, document in made if document.get("verification", {}).get("eligible")]
    arrived = [*_arrivals(made, seed)]
    copied = next(file for file in arrived if file.key.startswith(f"worldseq/{DAYS[0]}/cmp-"))
    copy = copied._replace(key=f"worldseq/{DAYS[0]}/replayed/a copy.json")
    return [*arrived, copy, *_curiosities(sound[0]), *_broken(sound[1])]


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
            "startedAt": rfc3339(start),
            "finishedAt": rfc3339(start + dt.timedelta(seconds=rng.randrange(900, 6_400))),
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
    later = {**rerun, "finalization": {"status": "completed", "finalizedAt": rfc3339(noon(DAYS[2]))}}
    yield _file(DAYS[2], "exploratory/twice-2.json", later)


def _broken(document: Document) -> Iterator[StoredFile]:
    """Files that end in quarantine, each for a reason of its own."""
    whole = as_json(_renamed(document, "att-broken"))

    def changed(name: str, old: str, new: str) -> StoredFile:
        text = whole.decode()
        if old not in text:
            raise ValueError(f"the example store has no {old!r} to break")
        return _file(DAYS[2], f"broken/{name}.json", text.replace(old, new, 1).encode())

    yield _file(DAYS[2], "broken/truncated.json", whole[: len(whole) // 2])
    yield _file(DAYS[2], "broken/empty.json", b"")
    yield _file(DAYS[2], "broken/error page.json", b"<html><body>502 Bad Gateway</body></html>\n")
    yield _file(DAYS[2], "broken/latin-1.json", '{"format": "caf\u00e9"}'.encode("latin-1"))
    yield _file(DAYS[2], "broken/deep.json", b"[" * 20_000 + b"]" * 20_000)
    yield _file(DAYS[2], "broken/another tool.json", b'{"hello": "world", "version": 3}\n')
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
    yield StoredFile("worldseq/2026-02-30/no such day.json", whole, noon(DAYS[2]))


def _renamed(document: Document, attempt_id: str) -> Document:
    copy: Document = json.loads(as_json(document))
    copy["attempt"]["attemptId"] = attempt_id
    return copy


def _file(day: dt.date, name: str, document: Document | bytes) -> StoredFile:
    return stored("worldseq", day, name, document)
