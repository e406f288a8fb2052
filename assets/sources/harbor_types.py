"""What Harbor's result files look like: one msgspec type per object, with only the fields that are used.

Here: names, types and ranges. A field of Harbor's that is not declared here is ignored, whatever it holds. Not here:
reading (`harbor_reading`), frames (`harbor_frames`). Everything optional may be absent or null alike: files of Harbor's
first releases lack half of it.

https://github.com/harbor-framework/harbor
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from assets.attempts.contract import MAX_COUNT
from assets.sources.json_types import Identifier

Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Version1 = Annotated[int, Meta(ge=1, le=1)]
"""Files without it are of version 1; what another one would mean nobody knows yet."""
Score = float | bool | None
"""A reward; Harbor reads a boolean as 1.0 or 0.0."""
Figures = dict[str, float | None]


class Part(Struct, gc=False):
    """Base of all: JSON holds no cycles, so the garbage collector need not look."""


class Model(Part):
    """The model that the agent used."""

    name: str | None = None


class Agent(Part):
    """Who acted; the name is null for an agent of the user's own."""

    name: str | None = None
    version: str | None = None
    model_info: Model | None = None


class Usage(Part):
    """What an agent used; input tokens include the cached ones, cost is in US dollars."""

    n_input_tokens: Count | None = None
    n_cache_tokens: Count | None = None
    n_output_tokens: Count | None = None
    cost_usd: float | None = None


class Verified(Part):
    """What the verifier found."""

    rewards: dict[str, Score] | None = None


class PolicyOverride(Part):
    """What the job's configuration says of an exception; the `policy` recorded beside it is never read."""

    has_valid_reward: bool | None = None


class Failure(Part):
    """A recorded exception; its type decides whether a reward beside it is valid."""

    exception_type: str
    exception_message: str | None = None
    policy_override: PolicyOverride | None = None


class Step(Part):
    """One step of a multi-step trial."""

    agent_result: Usage | None = None
    verifier_result: Verified | None = None
    exception_info: Failure | None = None


class Trial(Part):
    """`result.json` of a trial."""

    id: Identifier
    task_name: Identifier
    schema_version: Version1 | None = None
    source: Identifier | None = None
    agent_info: Agent | None = None
    agent_result: Usage | None = None
    verifier_result: Verified | None = None
    exception_info: Failure | None = None
    started_at: str | None = None
    finished_at: str | None = None
    step_results: list[Step] | None = None
    reward_valid: bool | None = None


class Evaluation(Part):
    """A job's figures of one agent, model and dataset; `metrics` may hold anything that a metric's author returned."""

    n_trials: float | None = None
    n_errors: float | None = None
    metrics: list[dict[str, Any]] | None = None
    pass_at_k: Figures | None = None


class Stats(Part):
    """A job's figures; those without `completed` and `errored` in their names are what old files called them."""

    n_completed_trials: float | None = None
    n_errored_trials: float | None = None
    n_trials: float | None = None
    n_errors: float | None = None
    n_running_trials: Count | None = None
    n_pending_trials: Count | None = None
    n_input_tokens: float | None = None
    n_cache_tokens: float | None = None
    n_output_tokens: float | None = None
    cost_usd: float | None = None
    evals: dict[str, Evaluation | None] | None = None


class Job(Part):
    """`result.json` of a job."""

    schema_version: Version1 | None = None
    n_total_trials: Count | None = None
    stats: Stats | None = None
