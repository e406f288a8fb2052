"""Two campaigns of the example store: one that concludes, and one that an incomplete inventory leaves open.

Here: their registrations, and the attempts of the first; those of the second are `demo_worldseq`'s.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pipelines.cli.demo_attempts import COMPANIES, TASKS, Company, Task, attempt
from pipelines.cli.demo_files import DAYS, Document, StoredFile, as_json, generator, noon, rfc3339, stored
from pipelines.cli.demo_plots import PLOTS
from pipelines.cli.demo_worldseq import plan

CONCLUSIVE, INCOMPLETE = "cmp-planner-2026-09", "cmp-pricing-2026-09"
FAILING = {"control": 0.45, "treatment": 0.05}
"""Share of an arm's attempts that break a predicate."""
REPEATS = (1, 2)


class Case(NamedTuple):
    """One case of a campaign."""

    task: Task
    company: Company
    scenario: str
    repeat: int

    def registered(self) -> dict[str, Any]:
        """The case as a registration lists it."""
        return {
            "familyId": self.task.family,
            "companyId": self.company.company_id,
            "taskId": self.task.task_id,
            "scenarioId": self.scenario,
            "repeat": self.repeat,
        }


def files(seed: int) -> Iterator[StoredFile]:
    """The registrations, and every attempt of the campaign that concludes."""
    cases = [Case(task, company, "s1", n) for task in TASKS[:4] for company in COMPANIES for n in REPEATS]
    yield _registration(CONCLUSIVE, "Planner 2.1 against 2.0", cases)
    planned = [one for one in plan() if one.campaign_id == INCOMPLETE and one.arm_id == "control"]
    registered = [
        Case(one.task, COMPANIES[one.company_index], f"s{one.company_index % 2 + 1}", one.repeat) for one in planned
    ]
    yield _registration(INCOMPLETE, "Pricing with a larger model", registered)
    for arm, failing in FAILING.items():
        rng = generator(seed, CONCLUSIVE, arm)
        for number, case in enumerate(cases, start=1):
            broken = [name for name, plot in PLOTS.items() if _breaks(name, case.task)]
            plot = rng.choice(broken) if rng.random() < failing else "clean"
            document = attempt(_identity(arm, number, case), case.task, case.company, plot, seed)
            day = DAYS[case.repeat - 1]
            yield stored("worldseq", day, f"{CONCLUSIVE}/{document['attempt']['attemptId']}.json", document)


def _breaks(plot: str, task: Task) -> bool:
    return PLOTS[plot].verdict == "ineligible" and PLOTS[plot].suits(task.family)


def _identity(arm: str, number: int, case: Case) -> Document:
    start = dt.datetime.combine(DAYS[case.repeat - 1], dt.time(3), dt.UTC) + dt.timedelta(minutes=number)
    return {
        "attemptId": f"planner-{arm}-{number:03d}",
        "campaignId": CONCLUSIVE,
        "armId": arm,
        **case.registered(),
        "agent": {"name": "planner", "version": "2.1" if arm == "treatment" else "2.0", "model": "m-large"},
        "startedAt": rfc3339(start),
        "finishedAt": rfc3339(start + dt.timedelta(minutes=40)),
    }


def _registration(campaign_id: str, title: str, cases: Iterable[Case]) -> StoredFile:
    document = {
        "format": "worldseq-campaign/1",
        "campaignId": campaign_id,
        "title": title,
        "metric": "objectiveSuccess",
        "direction": "higher_is_better",
        "baselineArm": "control",
        "treatmentArm": "treatment",
        "expectation": "improvement",
        "tolerance": 0.05,
        "inventory": [case.registered() for case in cases],
    }
    return StoredFile(f"campaigns/{campaign_id}.json", as_json(document), noon(DAYS[0]))
