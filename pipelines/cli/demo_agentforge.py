"""AgentForge packs, trials and results of the example store.

Here: which packs there are, what each trial's verifiers gave, and what upstream recorded. Not here: what a reward is,
which the rules say.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pipelines.cli.demo_files import DAYS, Document, StoredFile, as_json, generator, noon, rfc3339, stored

CHECKOUT, STOCK, REFUNDS, VENDORS = "checkout-eu", "stock-count", "refunds", "vendors"
PACKS: Mapping[str, Sequence[Document]] = {
    CHECKOUT: (
        {"id": "latency-restored", "weight": 0.4, "hidden": True},
        {"id": "orders-intact", "weight": 0.35, "hidden": True},
        {"id": "root-cause", "weight": 0.25, "hidden": True},
    ),
    STOCK: (
        {"id": "counts-match", "weight": 0.7, "hidden": True},
        {"id": "ledger-untouched", "weight": 0.3, "hidden": True, "metricKey": "ledger_ok"},
        {"id": "polite-report", "weight": 0.2, "hidden": False},
    ),
    # The weights come to 1.1: nothing can be said about its trials.
    REFUNDS: (
        {"id": "queue-empty", "weight": 0.6, "hidden": True},
        {"id": "no-double-refund", "weight": 0.5, "hidden": True},
    ),
}


class Trial(NamedTuple):
    """One trial: its stage values as recorded, the recorded reward, and how it ended."""

    stages: Mapping[str, float]
    reward: float | None
    status: str = "completed"
    recipe: str = "staged"


class Job(NamedTuple):
    """The trials of one job on one pack, and the figures that upstream recorded of them."""

    job_id: str
    day: dt.date
    pack: str
    trials: Sequence[Trial]
    recorded: Document


def checkout(latency: float, orders: float, cause: float) -> dict[str, float]:
    """Stage values of the checkout pack."""
    return {"stage_latency_restored": latency, "stage_orders_intact": orders, "stage_root_cause": cause}


JOBS = (
    Job(
        "eu-large",
        DAYS[0],
        CHECKOUT,
        (
            Trial(checkout(1.0, 1.0, 1.0), 1.0),
            Trial(checkout(1.0, 0.5, 0.0), 0.575),
            # Summed in another order than the pack's it is 0.79225, which rounds up.
            Trial(checkout(0.6698, 0.9988, 0.699), 0.7923),
            Trial({}, None, "agent_failure"),
        ),
        {"meanReward": 0.7890666666666667, "passAt1": 0.25, "passAtK": 1.0},
    ),
    Job(
        "eu-small",
        DAYS[1],
        CHECKOUT,
        (
            Trial(checkout(1.0, 0.0, 0.0), 0.4),
            Trial({"stage_latency_restored": 1.0, "stage_orders_intact": 1.0}, 0.75),
            Trial(checkout(1.2, 0.5, 0.5), 0.78),
            Trial({}, None, "infrastructure_failure"),
        ),
        {"meanReward": 0.575, "passAt1": 0.0, "passAtK": 0.0},
    ),
    Job(
        "stock-full",
        DAYS[1],
        STOCK,
        (
            Trial({"stage_counts_match": 1.0, "ledger_ok": 1.0, "stage_polite_report": 0.0}, 1.0),
            Trial({"stage_counts_match": 0.5, "ledger_ok": 1.0, "stage_polite_report": 1.0}, 0.65),
        ),
        {"meanReward": 0.825, "passAt1": 0.5, "passAtK": 1.0},
    ),
    Job(
        "stock-free",
        DAYS[2],
        STOCK,
        (Trial({"distance": 0.25}, 0.75, recipe="continuous"), Trial({"distance": 0.0}, 1.0, recipe="continuous")),
        {"meanReward": 0.875, "passAt1": 0.5, "passAtK": 1.0},
    ),
    Job(
        "refunds-1",
        DAYS[2],
        REFUNDS,
        (Trial({"stage_queue_empty": 1.0, "stage_no_double_refund": 0.5}, 0.85),),
        {"meanReward": 0.85, "passAt1": 0.0, "passAtK": 0.0},
    ),
    Job(
        "vendors-1",
        DAYS[2],
        VENDORS,
        (Trial({"stage_contract_signed": 1.0}, 1.0),),
        {"meanReward": 1.0, "passAt1": 1.0, "passAtK": 1.0},
    ),
)


def files(seed: int = 1) -> Iterator[StoredFile]:
    """Every file below `agentforge/` and `agentforge-packs/`."""
    for pack_key, stages in PACKS.items():
        pack = {"format": "agentforge-pack/1", "packKey": pack_key, "schemaVersion": 1, "stages": stages}
        yield StoredFile(f"agentforge-packs/{pack_key}.json", as_json(pack), noon(DAYS[0]))
    for job in JOBS:
        rng = generator(seed, job.job_id)
        for number, trial in enumerate(job.trials, start=1):
            trial_id = f"{job.job_id}-{number}"
            finished = noon(job.day) - dt.timedelta(seconds=rng.randrange(1, 30_000))
            document = {
                "format": "agentforge-trial/1",
                "trialId": trial_id,
                "jobId": job.job_id,
                "attempt": number,
                "configuration": {
                    "schemaVersion": 1,
                    "agentKind": "multi_agent",
                    "attemptCount": len(job.trials),
                    "rewardRecipe": trial.recipe,
                    "sandboxProvider": "work",
                    "composition": "multi_agent",
                    "packKey": job.pack,
                    "scenarioKey": job.pack,
                },
                "status": trial.status,
                "metrics": trial.stages,
                "reward": trial.reward,
                "trajectoryUri": f"s3://trajectories/{trial_id}.jsonl",
                "finishedAt": rfc3339(finished),
            }
            yield stored("agentforge", job.day, f"{job.job_id}/trials/{trial_id}.json", document)
        result = {"format": "agentforge-result/1", "jobId": job.job_id, **job.recorded}
        yield stored("agentforge", job.day, f"{job.job_id}/result.json", result)
