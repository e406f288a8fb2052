"""Table of the rewards: what an attempt's outcome is worth under its reward kind."""

import datetime as dt

from assets.contract import Contract, column

REWARD_KINDS = ("worldseq-harbor-utility/1", "agentforge-staged/1", "agentforge-recorded", "harbor")


class Rewards(Contract):
    """One row per attempt, rule set and reward kind. Key: (attempt_id, rules, reward_kind, landed_on).

    The columns are those of a `reward.json`; `reward` is null unless the attempt is eligible or ineligible.
    """

    attempt_id: str = column("Attempt")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    reward_kind: str = column("Which reward", isin=list(REWARD_KINDS))
    reward: float = column("The reward; null where the class has none", nullable=True)
    eligible: int = column("1 eligible, 0 ineligible, null otherwise", nullable=True, isin=[0, 1])
    verified: int = column("1 where the verdict is eligible or ineligible", isin=[0, 1])
    primary_value: float = column("Raw primary value, in its unit", nullable=True)
    reward_transform_version: int = column("Version of the transform", nullable=True)
    recorded_reward: float = column("Reward as upstream recorded it", nullable=True)
    reason: str = column("Why there is no reward, or why it is that of an ineligible attempt", nullable=True)

    class Config(Contract.Config):
        name = "rewards"
        unique = ["attempt_id", "rules", "reward_kind", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules")}


class StageScores(Contract):
    """One row per stage of a staged trial and rule set: what it contributed to the reward, before clamping.

    Key: (attempt_id, position, rules, landed_on).
    """

    attempt_id: str = column("Trial")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    position: int = column("Position of the stage in the pack, from 0", ge=0)
    stage_id: str = column("Stage of the pack")
    metric_key: str = column("Name of its value among the trial's metrics, such as stage_<id>")
    weight: float = column("Weight in the pack")
    hidden: bool = column("A hidden stage: only these count towards the reward")
    value: float = column("Value as recorded; null where the trial has none", nullable=True)
    contribution: float = column(
        "weight * value of a hidden stage, 0 without a value; null where not valid", nullable=True
    )
    reason: str = column("no_value, stage_out_of_range, not_hidden; null for a plain contribution", nullable=True)

    class Config(Contract.Config):
        name = "stage_scores"
        unique = ["attempt_id", "position", "rules", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules")}
