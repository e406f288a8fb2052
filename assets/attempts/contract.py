"""Tables of the attempts layer: canonical records of attempts and their evidence, whatever document they came in."""

import datetime as dt
from typing import Annotated

import polars as pl

from assets.contract import Contract, column
from assets.vocabulary import (
    AGGREGATIONS,
    BENCHMARK_FORMATS,
    BRANCHES,
    FINALIZATION_STATUSES,
    OUTCOMES,
    PRIMARY_METRICS,
    QUESTION_KINDS,
    SHAPES,
    SOURCES,
    STRATEGIES,
)

MAX_CENTS = 10**13
MAX_DAY = 100_000
MAX_COUNT = 2**53
MAX_ATTEMPTS = 10**6  # at one task: a plan for more is a mistake, and its sums would overflow

Utc = Annotated[pl.Datetime, "us", "UTC"]
Strings = Annotated[pl.List, pl.String]


class Attempts(Contract):
    """One row per attempt and day: of the documents that tell of it, the winner by precedence.

    Precedence: shape (full, finalizer, harbor, summary), then the latest `finalized_at` (null last), one that is still
    listed before one that `vanished`, the later `landed_on`, the latest `last_modified`, the greatest `uri`. Key:
    (attempt_id, landed_on).
    """

    attempt_id: str = column("`<source>:<natural id>`")
    source: str = column("Kind of artifact", isin=list(SOURCES))
    landed_on: dt.date = column("Partition day")
    uri: str = column("Document that this row comes from")
    shape: str = column("Shape of the document", isin=list(SHAPES))
    campaign_id: str = column("Campaign that the attempt belongs to", nullable=True)
    arm_id: str = column("Arm of the campaign", nullable=True)
    family_id: str = column("Scenario family", nullable=True)
    company_id: str = column("Simulated company", nullable=True)
    task_id: str = column("Task", nullable=True)
    scenario_id: str = column("Scenario of the task", nullable=True)
    repeat: int = column("Number of the repetition, from 1", nullable=True, ge=1)
    agent_name: str = column("Agent", nullable=True)
    agent_version: str = column("Version of the agent", nullable=True)
    model_name: str = column("Model of the agent", nullable=True)
    outcome: str = column("How the attempt ended", isin=list(OUTCOMES))
    failure_kind: str = column("Kind of failure, as recorded", nullable=True)
    failure_message: str = column("Message of the failure, whole", nullable=True)
    started_at: Utc = column("Start; null where the recorded time has no offset", nullable=True)
    started_at_text: str = column("The recorded start where it has no offset", nullable=True)
    finished_at: Utc = column("End; null where the recorded time has no offset", nullable=True)
    finished_at_text: str = column("The recorded end where it has no offset", nullable=True)
    primary_metric: str = column("The task's primary metric", nullable=True, isin=list(PRIMARY_METRICS))
    horizon_days: int = column("Days that the task runs", nullable=True, ge=0, le=MAX_DAY)
    case_digest: str = column("SHA-256 of the task contract: canonical JSON without nulls", nullable=True)
    accepted_decisions: int = column("Accepted decisions", nullable=True, ge=0, le=MAX_COUNT)
    player_calls: int = column("Calls, rejected and repeated ones included", nullable=True, ge=0, le=MAX_COUNT)
    elapsed_seconds: float = column("Real seconds used", nullable=True, ge=0)
    reported_tokens: int = column("Tokens that the agent reported", nullable=True, ge=0, le=MAX_COUNT)
    token_budget: int = column("Token budget that the runner registered", nullable=True, ge=0, le=MAX_COUNT)
    finalization_status: str = column("Status of the finalization", nullable=True, isin=list(FINALIZATION_STATUSES))
    finalized_at: Utc = column("When it was finalized; null where the time has no offset", nullable=True)
    finalized_at_text: str = column("The recorded finalization time where it has no offset", nullable=True)
    last_modified: Utc = column("Last modification of the document")
    vanished: bool = column(
        "True where the listing no longer had the document when the day was last decoded; what it said is kept. Null, "
        "of rows from before this was told, counts as false",
        nullable=True,
    )
    has_evidence: bool = column("The document carries a task contract to verify from: basis `recomputed`")
    recorded_verified: bool = column("`verified` as recorded", nullable=True)
    recorded_eligible: bool = column("`eligible` as recorded", nullable=True)
    recorded_primary_value: float = column("`primaryValue` as recorded, in the metric's unit", nullable=True)
    unknown_answers: int = column("Answers to questions that the task does not ask: ignored", ge=0)
    unknown_evidence: int = column("Evidence for questions that the task does not ask: ignored", ge=0)
    identical_copies: int = column(
        "Documents of this day about this attempt that repeat another one's shape and content", ge=0
    )

    class Config(Contract.Config):
        name = "attempts"
        unique = ["attempt_id", "landed_on"]
        metadata = {"partition_by": ("landed_on",)}


def day_metric(description: str, artifact_name: str) -> int:
    """A registered day metric: its column, and its name in artifacts and task contracts."""
    declared: int = column(description, nullable=True, metadata={"day_metric": artifact_name})
    return declared


class TrajectoryDays(Contract):
    """One row per attempt and day of its trajectory, up to the horizon. Key: (attempt_id, day, landed_on).

    A column with `day_metric` is a registered day metric: the decoder, the predicates and the primary values learn of
    it from here. Money is integer cents with |cents| <= 10^13.
    """

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    day: int = column("Simulated day; 0 is the opening state", ge=0, le=MAX_DAY)
    cash_cents: int = day_metric("Cash at the end of the day, cents", "cashCents")
    min_cash_cents: int = day_metric("Lowest cash inside the day, cents", "minCashCents")
    net_assets_cents: int = day_metric("Net assets at the end of the day, cents", "netAssetsCents")
    spend_cents: int = day_metric("Spent on the day, cents, never negative", "spendCents")
    earned_revenue_cents: int = day_metric("Revenue earned on the day, cents", "earnedRevenueCents")
    operating_margin_cents: int = day_metric("Operating margin of the day, cents", "operatingMarginCents")
    active_paying_accounts: int = day_metric("Active paying accounts", "activePayingAccounts")
    retained_accounts: int = day_metric("Retained accounts", "retainedAccounts")
    shortfall_units: float = day_metric("Shortfall of the day, service units", "shortfallUnits")
    lost_work_units: float = day_metric("Work lost on the day, work units", "lostWorkUnits")
    prices: Annotated[pl.List, pl.Struct({"product": pl.String, "cents": pl.Int64})] = column(
        "Prices of the day, cents, null where recorded as null", nullable=True
    )

    class Config(Contract.Config):
        name = "trajectory_days"
        metadata = {"partition_by": ("landed_on",)}


DAY_METRICS: dict[str, str] = {
    declared.metadata["day_metric"]: name
    for name, declared in TrajectoryDays.to_schema().columns.items()
    if declared.metadata
}
"""Registered day metrics: name in artifacts to column of `trajectory_days`."""


class TaskPredicates(Contract):
    """One row per constraint and objective of a task contract. Key: (attempt_id, part, position, landed_on)."""

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    part: str = column("List of the contract that it stands in", isin=["constraints", "objectives"])
    position: int = column("Position in that list, from 0", ge=0)
    predicate_id: str = column("The row's own id")
    kind: str = column("Constraint kind (open: an unknown one is inconclusive); `objective` for objectives")
    metric: str = column("Day metric of an objective or growth, as named in the contract", nullable=True)
    min_cents: int = column("Lower bound of a money constraint, cents", nullable=True)
    max_cents: int = column("Upper bound of a money constraint, cents", nullable=True)
    min_value: float = column("Lower bound of an objective, in the metric's unit", nullable=True)
    max_value: float = column("Upper bound of an objective, in the metric's unit", nullable=True)
    from_day: int = column("First day of the window, or the base day of a growth", nullable=True)
    to_day: int = column("Last day of the window, or the end day of a growth", nullable=True)
    min_ratio: float = column("Growth: lower bound of end / base", nullable=True)
    min_delta: float = column("Growth: lower bound of end - base, in the metric's unit", nullable=True)
    agreement_id: str = column("Agreement that must be reached", nullable=True)
    agreement_status: str = column("Status that the agreement must have", nullable=True)
    by_day: int = column("Last day on which an agreement entry counts", nullable=True)
    accepted_decisions: int = column("Override of the gameplay budget", nullable=True)
    player_calls: int = column("Override of the gameplay budget", nullable=True)
    elapsed_seconds: float = column("Override of the gameplay budget, seconds", nullable=True)

    class Config(Contract.Config):
        name = "task_predicates"
        metadata = {"partition_by": ("landed_on",)}


class Agreements(Contract):
    """One row per entry of an attempt's agreement log. Key: (attempt_id, position, landed_on)."""

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    position: int = column("Position in the log, from 0", ge=0)
    agreement_id: str = column("Agreement")
    status: str = column("Status from then on")
    on_day: int = column("Simulated day of the entry", nullable=True)

    class Config(Contract.Config):
        name = "agreements"
        metadata = {"partition_by": ("landed_on",)}


class Questions(Contract):
    """One row per question of a task contract, with its evidence. Key: (attempt_id, question_id, landed_on)."""

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    question_id: str = column("Question")
    position: int = column("Position in the contract, from 0", ge=0)
    kind: str = column("Kind of question", isin=list(QUESTION_KINDS))
    due_on_day: int = column("Only answers submitted strictly before this day count")
    required: bool = column("A supported conclusion is required: it gates eligibility")
    candidates: Strings = column("Categorical: the candidates", nullable=True)
    equivalence_groups: Annotated[pl.List, pl.List(pl.String)] = column(
        "Categorical: groups of indistinguishable candidates", nullable=True
    )
    metric: str = column("Forecast and counterfactual: day metric, as named in the contract", nullable=True)
    outcome_on_day: int = column("Forecast and counterfactual: day of the outcome", nullable=True)
    scale: float = column("Forecast and counterfactual: one unit of error, in the metric's unit", nullable=True)
    checkpoint_day: int = column("Counterfactual: day of the intervention", nullable=True)
    one_shot_action: str = column("Counterfactual: action that must still be available", nullable=True)
    truth: str = column("Evidence, categorical: the true candidate", nullable=True)
    action_state: str = column("Evidence, counterfactual: state of the one-shot action", nullable=True)
    supported_conclusion: Strings = column("Evidence, counterfactual: the supported effects", nullable=True)
    factual_prefix_digest: str = column("Evidence, counterfactual: digest of the factual prefix", nullable=True)

    class Config(Contract.Config):
        name = "questions"
        unique = ["attempt_id", "question_id", "landed_on"]
        metadata = {"partition_by": ("landed_on",)}


class Answers(Contract):
    """One row per answer to a question that the task asks. Key: (attempt_id, position, landed_on).

    What a player wrote is read leniently: nonsense is null here and makes the answer invalid, never the attempt.
    """

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    question_id: str = column("Question")
    position: int = column("Position in the list of answers, from 0", ge=0)
    sequence: int = column("Sequence number of the submission", nullable=True)
    submitted_on_day: int = column("Simulated day of the submission")
    status: str = column("Status of the submission; only `accepted` is graded")
    probabilities: Annotated[pl.List, pl.Struct({"candidate": pl.String, "probability": pl.Float64})] = column(
        "Probability per candidate; null where absent or nonsense", nullable=True
    )
    prediction: float = column("Predicted value; null where absent or nonsense", nullable=True)
    conclusion: Strings = column("Concluded members; null where absent or nonsense", nullable=True)
    unresolved: bool = column("Declared unresolved (absent is false); null where nonsense", nullable=True)

    class Config(Contract.Config):
        name = "answers"
        metadata = {"partition_by": ("landed_on",)}


class Branches(Contract):
    """One row per branch of a counterfactual question's evidence. Key: (attempt_id, question_id, branch, landed_on)."""

    attempt_id: str = column("Attempt")
    landed_on: dt.date = column("Partition day")
    question_id: str = column("Question")
    branch: str = column("Which branch", isin=list(BRANCHES))
    verified: bool = column("Independently checked", nullable=True)
    prefix_digest: str = column("Digest of the factual prefix that it shares", nullable=True)
    exogenous_digest: str = column("Digest of the exogenous realization that it shares", nullable=True)
    day_values: Annotated[pl.List, pl.Struct({"day": pl.Int64, "value": pl.Float64})] = column(
        "Value of the question's metric per simulated day", nullable=True
    )

    class Config(Contract.Config):
        name = "branches"
        metadata = {"partition_by": ("landed_on",)}


class StageValues(Contract):
    """One row per stage of a staged trial, with the weight that its pack gave when the trial was decoded.

    Editing a pack later changes no row here. Key: (attempt_id, position, landed_on).
    """

    attempt_id: str = column("Trial")
    landed_on: dt.date = column("Partition day")
    position: int = column("Position of the stage in the pack, from 0", ge=0)
    stage_id: str = column("Stage of the pack")
    metric_key: str = column("Name of its value among the trial's metrics")
    weight: float = column("Weight in the pack")
    hidden: bool = column("A hidden stage: only these count towards the reward")
    value: float = column("Value as recorded; null where the trial has none", nullable=True)
    pack_key: str = column("Pack that the weight comes from")
    pack_sha256: str = column("SHA-256 of the pack's content, hex")

    class Config(Contract.Config):
        name = "stage_values"
        unique = ["attempt_id", "position", "landed_on"]
        metadata = {"partition_by": ("landed_on",)}


class Observations(Contract):
    """One row per benchmark attempt and day: a trial of a job, an attempt at a benchmark's task.

    An attempt that its task or run registered and that left nothing has a row too (`present` false): nothing leaves a
    total by leaving no file. Key: (attempt_id, landed_on).
    """

    attempt_id: str = column("Attempt; `<source>:<natural id>`")
    source: str = column("Kind of artifact", isin=list(SOURCES))
    landed_on: dt.date = column("Partition day")
    uri: str = column("Document that this row comes from")
    format: str = column("Format of that document", isin=list(BENCHMARK_FORMATS))
    run_id: str = column("Run or job that it belongs to")
    benchmark: str = column("Benchmark, dataset or pack")
    agent_name: str = column("Agent or harness", nullable=True)
    model_name: str = column("Model", nullable=True)
    task_id: str = column("Task of the benchmark")
    attempt_index: int = column(
        "Number of the attempt at its task, from 1; null where there is none", nullable=True, ge=1
    )
    present: bool = column("Something was found of it; false: registered, and it left nothing")
    running: bool = column("Not finished yet: it counts as running, and in no metric")
    category: Strings = column("Category path from the top of the hierarchy down; null or empty: none", nullable=True)
    status: str = column("Status as recorded, in lower case", nullable=True)
    error: bool = column("Execution or evaluation ended in an error, an exception at any step included")
    fatal: bool = column("A fatal issue: it invalidates its task")
    metrics: Annotated[pl.List, pl.Struct({"name": pl.String, "value": pl.Float64, "boolean": pl.Boolean})] = column(
        "What it scored, one entry per metric in the order recorded; a boolean is 0 or 1; a null value is kept and is "
        "no score; empty where its status forbids a score"
    )
    exceptions: Annotated[pl.List, pl.Struct({"type": pl.String, "has_valid_reward": pl.Boolean})] = column(
        "Exceptions of the trial and of its steps, with the file's own ruling on the reward (null: none)"
    )
    reward_recipe: str = column("Staged trials: how their reward comes about", nullable=True)
    pack_reason: str = column(
        "Staged trials: why there are no stage values", nullable=True, isin=["pack_missing", "pack_invalid"]
    )
    plan_k: int = column("Attempts per task that the plan declares", nullable=True, ge=1, le=MAX_ATTEMPTS)
    plan_strategy: str = column("Strategy that the plan declares", nullable=True, isin=list(STRATEGIES))
    n_input_tokens: int = column("Input tokens", nullable=True, ge=0, le=MAX_COUNT)
    n_cache_tokens: int = column("Cached input tokens", nullable=True, ge=0, le=MAX_COUNT)
    n_output_tokens: int = column("Output tokens", nullable=True, ge=0, le=MAX_COUNT)
    cost_usd: float = column("Cost, US dollars", nullable=True)
    started_at: Utc = column("Start; null where the recorded time has no offset", nullable=True)
    started_at_text: str = column("The recorded start where it has no offset", nullable=True)
    finished_at: Utc = column("End; null where the recorded time has no offset", nullable=True)
    finished_at_text: str = column("The recorded end where it has no offset", nullable=True)

    class Config(Contract.Config):
        name = "observations"
        unique = ["attempt_id", "landed_on"]
        # Not by the winning attempts: what left nothing is no attempt.
        metadata = {"partition_by": ("landed_on",), "latest_by": ("attempt_id",)}


class BenchmarkRuns(Contract):
    """One row per run that a file of its own describes: what it registered and how it wants to be measured.

    Key: (source, run_id, benchmark, landed_on).
    """

    source: str = column("Kind of artifact", isin=list(SOURCES))
    landed_on: dt.date = column("Partition day")
    uri: str = column("Document that describes the run")
    run_id: str = column("Run or job")
    benchmark: str = column("Benchmark; null: the file speaks of all of the run's", nullable=True)
    registered: int = column("Trials that the run registered", nullable=True, ge=0, le=MAX_COUNT)
    running: int = column("Trials that it says are running or pending", nullable=True, ge=0, le=MAX_COUNT)
    duplicates: int = column("Trials found in it that are copies of ones counted elsewhere", ge=0)
    k: int = column("Attempts per task", nullable=True, ge=1, le=MAX_ATTEMPTS)
    strategy_: str = column("Strategy", nullable=True, alias="strategy", isin=list(STRATEGIES))
    aggregation: str = column("How task values become one", nullable=True, isin=list(AGGREGATIONS))
    score_key: str = column("Metric that the run is scored by", nullable=True)
    missing_score: float = column("The value that fills a missing score", nullable=True)
    exclude_missing: bool = column("Missing scores leave the denominator, by declaration", nullable=True)
    revision: str = column("Revision of dataset and evaluator, as recorded", nullable=True)
    hierarchy: str = column("Category hierarchy, canonical JSON", nullable=True)
    metric_contract: Annotated[
        pl.List,
        pl.Struct({"name": pl.String, "kind": pl.String, "reducers": pl.List(pl.String), "primary": pl.Boolean}),
    ] = column("Declared metrics: name, kind, reducers (null: all of its kind), whether primary", nullable=True)

    class Config(Contract.Config):
        name = "benchmark_runs"
        metadata = {"partition_by": ("landed_on",), "latest_by": ("source", "run_id", "benchmark")}


class RecordedValues(Contract):
    """One row per figure that upstream recorded, of every document that is not an identical copy, in long form."""

    attempt_id: str = column("Attempt; null for figures of a whole document, such as a summary's totals", nullable=True)
    run_id: str = column("Run or job, for figures of a whole run", nullable=True)
    source: str = column("Kind of artifact", isin=list(SOURCES))
    landed_on: dt.date = column("Partition day")
    recorded_in: str = column("Document that recorded it")
    shape: str = column("Shape of that document")
    field: str = column("eligible, primary_value, reward, constraint:<id>, staged_reward, job:<figure>, …")
    value: float = column("The recorded number; a boolean is 0 or 1; null where there is none", nullable=True)
    value_type: str = column("What was recorded", isin=["boolean", "number", "text", "null", "unreadable"])
    text: str = column("The recorded text, or the JSON text of what is unreadable", nullable=True)

    class Config(Contract.Config):
        name = "recorded_values"
        metadata = {"partition_by": ("landed_on",)}


WORLDSEQ_PARTS: tuple[type[Contract], ...] = (
    Attempts,
    TrajectoryDays,
    TaskPredicates,
    Agreements,
    Questions,
    Answers,
    Branches,
    RecordedValues,
)
"""What worldseq documents become."""

PARTS: tuple[type[Contract], ...] = (*WORLDSEQ_PARTS[:-1], StageValues, Observations, BenchmarkRuns, RecordedValues)
"""Every table of the layer."""
