"""What a campaign registration looks like: one msgspec type per object of it, with its ranges.

Here: names, types and ranges. Not here: reading, what a registration must not contradict, and its table (`campaigns`).
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from assets.attempts.contract import MAX_COUNT
from assets.sources.json_types import Identifier

FORMAT = "worldseq-campaign/1"


class Part(Struct, gc=False, rename="camel"):
    """Base of both: camelCase in documents; JSON holds no cycles, so the garbage collector need not look."""


class Case(Part):
    """One registered case: an attempt of each arm belongs to it."""

    family_id: Identifier
    company_id: Identifier
    task_id: Identifier
    scenario_id: Identifier
    repeat: Annotated[int, Meta(ge=1, le=MAX_COUNT)]


class Campaign(Part):
    """A campaign: what is compared, how, on which cases, and what is expected."""

    format: Literal["worldseq-campaign/1"]
    campaign_id: Identifier
    metric: str
    direction: Literal["higher_is_better", "lower_is_better"]
    baseline_arm: Identifier
    treatment_arm: Identifier
    expectation: Literal["improvement", "no_regression", "equivalence"]
    tolerance: Annotated[float, Meta(ge=0)]
    inventory: list[Case]
    title: str | None = None
