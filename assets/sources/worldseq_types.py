"""What worldseq documents look like: one msgspec type per object of theirs, with its ranges.

Here: names, types and ranges; a field that belongs to one kind of row stands in the type of that kind alone, so that
anything else there is an unknown extra field. Not here: reading (`worldseq`), tables (`worldseq_frames`).
Everything optional may be absent or null alike.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field

from assets.attempts.contract import DAY_METRICS, MAX_CENTS, MAX_COUNT, MAX_DAY, TrajectoryDays
from assets.contract import schema
from assets.sources.json_types import Identifier, Time, otherwise

FORMAT = "worldseq-attempt/1"

Cents = Annotated[int, Meta(ge=-MAX_CENTS, le=MAX_CENTS)]
Spent = Annotated[int, Meta(ge=0, le=MAX_CENTS)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Number = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Day = Annotated[int, Meta(ge=0, le=MAX_DAY)]
Seconds = Annotated[float, Meta(ge=0)]
Outcome = Literal["completed", "agent_failure", "infrastructure_failure"]
PrimaryMetric = Literal[
    "net_cash", "net_assets", "operating_margin", "active_paying_accounts", "retained_accounts", "recovery"
]


class Part(Struct, gc=False, rename="camel"):
    """Base of all: camelCase in documents; JSON holds no cycles, so the garbage collector need not look."""


class Agent(Part):
    """Who acted."""

    name: str | None = None
    version: str | None = None
    model: str | None = None


class Failure(Part):
    """Why an attempt failed."""

    kind: str | None = None
    message: str | None = None


class Identity(Part):
    """Which attempt it is, and how it ended; records of an attempt may leave the outcome out."""

    attempt_id: Identifier
    campaign_id: Identifier | None = None
    arm_id: Identifier | None = None
    family_id: Identifier | None = None
    company_id: Identifier | None = None
    task_id: Identifier | None = None
    scenario_id: Identifier | None = None
    repeat: Number | None = None
    agent: Agent | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    outcome: Outcome | None = None
    failure: Failure | None = None


class FullIdentity(Identity, kw_only=True):
    """The same, with its outcome."""

    outcome: Outcome


class Finalization(Part):
    """How the attempt was finalized."""

    status: Literal["completed", "inconclusive", "failed"] | None = None
    finalized_at: Time | None = None


class Constraint(Part, tag_field="kind"):
    """A constraint row; the kinds below have fields of their own."""

    id: Identifier


class SpendingBudget(Constraint, tag="spending_budget"):
    """An upper bound of all spending."""

    max_cents: Cents | None = None


class CashFloor(Constraint, tag="cash_floor"):
    """A lower bound of each day's lowest cash."""

    min_cents: Cents | None = None


class CashBounds(Constraint, tag="cash_bounds"):
    """Bounds of each day's cash."""

    min_cents: Cents | None = None
    max_cents: Cents | None = None


class PriceBounds(Constraint, tag="price_bounds"):
    """Bounds of each price."""

    min_cents: Cents | None = None
    max_cents: Cents | None = None


class Horizon(Constraint, tag="horizon"):
    """The last day must be reached."""


class AgreementReached(Constraint, tag="agreement"):
    """An agreement must have a status by a day."""

    agreement_id: Identifier
    status: str
    by_day: Day | None = None


class Growth(Constraint, tag="growth"):
    """A metric must grow from one day to another."""

    metric: str
    from_day: Day
    to_day: Day
    min_ratio: float | None = None
    min_delta: float | None = None


class GameplayBudget(Constraint, tag="gameplay_budget"):
    """Limits of play that override the rules' own."""

    accepted_decisions: Count | None = None
    player_calls: Count | None = None
    elapsed_seconds: Seconds | None = None


class OtherConstraint(Part):
    """A constraint of a kind that nobody registered."""

    id: Identifier
    kind: str


KnownConstraint = (
    SpendingBudget | CashFloor | CashBounds | PriceBounds | Horizon | AgreementReached | Growth | GameplayBudget
)


class Objective(Part):
    """Bounds of a metric on every day of a window."""

    id: Identifier
    metric: str
    from_day: Day
    to_day: Day
    min_value: float | None = field(default=None, name="min")
    max_value: float | None = field(default=None, name="max")


class Requirement(Part):
    """What a question requires beyond its score."""

    kind: Literal["supported_conclusion"] | None = None


class Question(Part, tag_field="kind"):
    """An assessment question."""

    id: Identifier
    due_on_day: Day
    requirement: Requirement | None = None


class Categorical(Question, tag="categorical", kw_only=True):
    """Which candidate is true, up to equivalence."""

    candidates: list[str]
    equivalence_groups: list[list[str]]


class Forecast(Question, tag="forecast", kw_only=True):
    """The value of a metric on a day."""

    metric: str
    outcome_on_day: Day
    scale: float


class Counterfactual(Question, tag="counterfactual", kw_only=True):
    """What an intervention would change in a metric on a day."""

    metric: str
    outcome_on_day: Day
    scale: float
    checkpoint_day: Day | None = None
    one_shot_action: str | None = None


class TaskContract(Part):
    """What the task demands."""

    horizon_days: Day
    primary_metric: PrimaryMetric
    constraints: list[Annotated[KnownConstraint, otherwise(OtherConstraint)]] | None = None
    objectives: list[Objective] | None = None
    questions: list[Categorical | Forecast | Counterfactual] | None = None


def _metric_type(name: str, column: str) -> Any:
    if schema(TrajectoryDays)[column].is_float():
        return float | None
    if name == "spendCents":
        return Spent | None
    return Cents | None if name.endswith("Cents") else Count | None


DayEntry = msgspec.defstruct(
    "DayEntry",
    [
        ("day", Day),
        *((column, _metric_type(name, column), None) for name, column in DAY_METRICS.items()),
        ("prices", dict[str, Cents | None] | None, None),
    ],
    rename={column: name for name, column in DAY_METRICS.items()},
    gc=False,
)
"""A day of the trajectory, with every registered day metric."""


class Agreement(Part):
    """An entry of the agreement log."""

    agreement_id: Identifier
    status: str
    on_day: Day | None = None


class Answer(Part):
    """A submission; what the player wrote in it may be anything."""

    question_id: Identifier
    submitted_on_day: Day
    status: str
    sequence: Count | None = None
    probabilities: Any = None
    prediction: Any = None
    conclusion: Any = None
    unresolved: Any = None


class Branch(Part):
    """An independently checked run of the company; `values` by day."""

    verified: bool | None = None
    prefix_digest: str | None = None
    exogenous_digest: str | None = None
    values: dict[Day, float | None] | None = None


class Truth(Part):
    """Evidence of a categorical question."""

    truth: str | None = None


class Counterfacts(Part):
    """Evidence of a counterfactual question."""

    one_shot_action: str | None = None
    supported_conclusion: list[str] | None = None
    factual_prefix_digest: str | None = None
    baseline: Branch | None = None
    intervention: Branch | None = None


class Evidence(Counterfacts):
    """Evidence of a question of any kind."""

    truth: str | None = None


class Usage(Part):
    """What the attempt used."""

    accepted_decisions: Count | None = None
    player_calls: Count | None = None
    elapsed_seconds: Seconds | None = None
    reported_tokens: Count | None = None
    token_budget: Count | None = None


class Full(Part):
    """A full attempt artifact. Its task, which repeats from attempt to attempt, and its record are read apart."""

    shape: ClassVar[str] = "full"
    format: Literal["worldseq-attempt/1"]
    attempt: FullIdentity
    task: Raw = Raw(b"null")
    trajectory: list[DayEntry] | None = None  # type: ignore[valid-type]  # made from the contract's metrics
    agreements: list[Agreement] | None = None
    answers: list[Answer] | None = None
    evidence: dict[str, Evidence | None] | None = None
    usage: Usage | None = None
    verification: Raw = Raw(b"null")
    finalization: Finalization | None = None


class Finalizer(Part):
    """A shared-finalizer response."""

    shape: ClassVar[str] = "finalizer"
    attempt: Identity
    verification: Any = None
    finalization: Finalization | None = None


class Harbor(Part):
    """A Harbor result: the fields of the verification stand beside these."""

    shape: ClassVar[str] = "harbor"
    attempt: Identity
    finalization: Finalization | None = None


class Case(Part):
    """An entry of an evaluation summary."""

    shape: ClassVar[str] = "summary"
    attempt: Identity
    verification: Any = None
