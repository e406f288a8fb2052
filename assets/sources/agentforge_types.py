"""What AgentForge documents look like: one msgspec type per object of theirs, with its ranges.

Here: names, types and ranges. Not here: reading, and tables (`agentforge`). Everything optional may be absent or null
alike.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from assets.attempts.contract import MAX_ATTEMPTS
from assets.sources.json_types import Identifier, Time

TRIAL_FORMAT = "agentforge-trial/1"
RESULT_FORMAT = "agentforge-result/1"
PACK_FORMAT = "agentforge-pack/1"
WEIGHT_SUM_TOLERANCE = 1e-9
"""By contract a pack's hidden weights sum to 1 within this; what does not is no pack, under whatever rules."""

AttemptNumber = Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)]
AttemptCount = Annotated[int, Meta(ge=1, le=8)]
Status = Literal["completed", "agent_failure", "infrastructure_failure"]
RewardRecipe = Literal["staged", "binary", "continuous", "hybrid"]


class Part(Struct, gc=False, rename="camel"):
    """Base of all: camelCase in documents; JSON holds no cycles, so the garbage collector need not look."""


class Configuration(Part):
    """What a job runs: the same for each of its trials."""

    attempt_count: AttemptCount
    reward_recipe: RewardRecipe
    agent_kind: str | None = None
    pack_key: Identifier | None = None
    scenario_key: Identifier | None = None
    schema_version: int | None = None
    sandbox_provider: str | None = None
    composition: str | None = None


class Trial(Part):
    """One attempt of a job; the URI of its trajectory is told, and never read."""

    shape: ClassVar[str] = "trial"
    format: Literal["agentforge-trial/1"]
    trial_id: Identifier
    job_id: Identifier
    configuration: Configuration
    status: Status
    attempt: AttemptNumber | None = None
    metrics: dict[str, float | None] | None = None
    reward: float | None = None
    trajectory_uri: str | None = None
    finished_at: Time | None = None


class Result(Part):
    """The figures of a whole job, as the worker recorded them."""

    shape: ClassVar[str] = "run"
    format: Literal["agentforge-result/1"]
    job_id: Identifier
    mean_reward: float | None = None
    pass_at1: float | None = None
    pass_at_k: float | None = None


class Stage(Part):
    """One verifier of a pack: its weight, and the metric that holds its value."""

    id: Identifier
    weight: float
    hidden: bool
    metric_key: Identifier | None = None

    def key(self) -> str:
        """The name of its value among a trial's metrics."""
        return self.metric_key or f"stage_{self.id.replace('-', '_')}"


class Pack(Part):
    """The recipe of a staged reward: stages in the order in which they are added up."""

    format: Literal["agentforge-pack/1"]
    pack_key: Identifier
    stages: list[Stage]
    schema_version: int | None = None
