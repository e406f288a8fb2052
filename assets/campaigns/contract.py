"""Tables of the campaigns: registrations, pairs, effects at every node, and comparisons with their verdict."""

import datetime as dt
from typing import Annotated

import polars as pl

from assets.contract import Contract, column
from assets.vocabulary import CLASSES

Strings = Annotated[pl.List, pl.String]
Utc = Annotated[pl.Datetime, "us", "UTC"]
CASE = ("family_id", "company_id", "task_id", "scenario_id", "repeat")
"""What a case is: one attempt of each arm belongs to it."""
Inventory = Annotated[
    pl.List,
    pl.Struct(
        {
            "family_id": pl.String,
            "company_id": pl.String,
            "task_id": pl.String,
            "scenario_id": pl.String,
            "repeat": pl.Int64,
        }
    ),
]
ClassCounts = Annotated[pl.Struct, dict.fromkeys(CLASSES, pl.Int64)]

DIRECTIONS = ("higher_is_better", "lower_is_better")
EXPECTATIONS = ("improvement", "no_regression", "equivalence")
VERDICTS = ("pass", "fail", "inconclusive")
RESULTS = ("win", "tie", "loss")
LEVELS = ("campaign", "family", "company", "task", "scenario")


class CampaignRegistrations(Contract):
    """One row per valid registration: what is compared, how, and on which cases. Key: (uri, landed_on).

    Of several registrations of one campaign the newest counts: latest `last_modified`, then greatest `uri`.
    """

    campaign_id: str = column("Campaign")
    campaign_key: str = column("Campaign as a partition: ASCII, from its id and a digest of it")
    landed_on: dt.date = column("Partition day")
    uri: str = column("Document that registers it")
    last_modified: Utc = column("Last modification of the document")
    vanished: bool = column(
        "True where the listing no longer had the document when the day was last decoded: it was withdrawn, and its "
        "comparison stays. Null, of rows from before this was told, counts as false",
        nullable=True,
    )
    registration_digest: str = column("SHA-256 of the registration: canonical JSON without nulls")
    title: str = column("Title", nullable=True)
    metric: str = column("objectiveSuccess, primaryValue, reward, closing:<day metric> or score:<question>")
    direction: str = column("Which way is better", isin=list(DIRECTIONS))
    baseline_arm: str = column("Arm that is compared with")
    treatment_arm: str = column("Arm that is compared")
    expectation: str = column("What is claimed of the treatment", isin=list(EXPECTATIONS))
    tolerance: float = column("Practical tolerance, in the metric's unit", ge=0)
    inventory: Inventory = column("The registered cases, in their order")

    class Config(Contract.Config):
        name = "campaign_registrations"
        unique = ["uri", "landed_on"]
        metadata = {"partition_by": ("landed_on",), "latest_by": ("campaign_id",)}


class CampaignPairs(Contract):
    """One row per registered case of a campaign, with both sides. Key: (campaign_key, rules, case).

    A side without a number is null and stays: one such pair makes the comparison inconclusive.
    """

    campaign_id: str = column("Campaign")
    campaign_key: str = column("Campaign as a partition")
    rules: str = column("Rule set")
    family_id: str = column("Scenario family")
    company_id: str = column("Company of the family")
    task_id: str = column("Task of the company")
    scenario_id: str = column("Scenario of the task")
    repeat: int = column("Number of the repetition", ge=1)
    metric: str = column("Metric compared")
    baseline_attempt_id: str = column("Attempt of the baseline arm", nullable=True)
    treatment_attempt_id: str = column("Attempt of the treatment arm", nullable=True)
    baseline_class: str = column("Class of that attempt; missing where there is none", isin=list(CLASSES))
    treatment_class: str = column("Class of that attempt; missing where there is none", isin=list(CLASSES))
    baseline_value: float = column("Its value of the metric", nullable=True)
    treatment_value: float = column("Its value of the metric", nullable=True)
    baseline_reason: str = column("Why the side has no value, or no attempt: duplicate_case, …", nullable=True)
    treatment_reason: str = column("Why the side has no value, or no attempt: duplicate_case, …", nullable=True)
    effect: float = column("How much better the treatment is, in the metric's unit; positive is better", nullable=True)
    result: str = column("Under the tolerance", nullable=True, isin=list(RESULTS))

    class Config(Contract.Config):
        name = "campaign_pairs"
        unique = ["campaign_key", "rules", *CASE]
        metadata = {"partition_by": ("campaign_key", "rules")}


class CampaignEffects(Contract):
    """One row per node of a campaign's hierarchy. Key: (campaign_key, rules, level, family_id, …, scenario_id).

    The mean of its children, equally weighted: a report can drill down, and the total can be recomputed. Null at every
    node unless every pair is numeric.
    """

    campaign_id: str = column("Campaign")
    campaign_key: str = column("Campaign as a partition")
    rules: str = column("Rule set")
    level: str = column("Level of the node", isin=list(LEVELS))
    family_id: str = column("Scenario family; null above it", nullable=True)
    company_id: str = column("Company; null above it", nullable=True)
    task_id: str = column("Task; null above it", nullable=True)
    scenario_id: str = column("Scenario; null above it", nullable=True)
    effect: float = column("Mean effect below the node, in the metric's unit", nullable=True)
    pairs: int = column("Registered pairs below the node", ge=1)

    class Config(Contract.Config):
        name = "campaign_effects"
        unique = ["campaign_key", "rules", "level", "family_id", "company_id", "task_id", "scenario_id"]
        metadata = {"partition_by": ("campaign_key", "rules")}


class CampaignComparisons(Contract):
    """One row per campaign and rule set: the estimate, its intervals, and the verdict with every reason.

    Key: (campaign_key, rules).
    """

    campaign_id: str = column("Campaign")
    campaign_key: str = column("Campaign as a partition")
    rules: str = column("Rule set")
    title: str = column("Title of the campaign", nullable=True)
    metric: str = column("Metric compared")
    direction: str = column("Which way is better", isin=list(DIRECTIONS))
    baseline_arm: str = column("Arm that is compared with")
    treatment_arm: str = column("Arm that is compared")
    expectation: str = column("What is claimed of the treatment", isin=list(EXPECTATIONS))
    tolerance: float = column("Practical tolerance, in the metric's unit", ge=0)
    verdict: str = column("Whether the claim holds", isin=list(VERDICTS))
    reasons: Strings = column("Why the verdict is inconclusive, each reason, in a fixed order")
    effect: float = column("Mean effect, equal weights at each level; positive is better", nullable=True)
    ci_low: float = column("Lower end of the bootstrap interval", nullable=True)
    ci_high: float = column("Upper end of the bootstrap interval", nullable=True)
    confidence: float = column("Confidence of both intervals")
    t_low: float = column("Lower end of the t interval on company means", nullable=True)
    t_high: float = column("Upper end of the t interval on company means", nullable=True)
    std_error: float = column("Standard deviation of the resampled means", nullable=True)
    mde: float = column("Minimum detectable effect at 80% power, two-sided alpha 0.05", nullable=True)
    wins: int = column("Pairs that the treatment wins beyond the tolerance", nullable=True)
    ties: int = column("Pairs within the tolerance", nullable=True)
    losses: int = column("Pairs that it loses beyond the tolerance", nullable=True)
    pairs: int = column("Registered pairs", ge=1)
    numeric_pairs: int = column("Of these with a number on both sides", ge=0)
    families: int = column("Registered families", ge=1)
    companies: int = column("Registered companies, each of its family", ge=1)
    tasks: int = column("Registered tasks, each of its company", ge=1)
    scenarios: int = column("Registered scenarios, each of its task", ge=1)
    baseline_classes: ClassCounts = column("Registered cases of the baseline arm by class")
    treatment_classes: ClassCounts = column("Registered cases of the treatment arm by class")
    unregistered: int = column("Attempts of the campaign outside of inventory and arms: counted, never compared", ge=0)
    resamples: int = column("Resamples of the bootstrap", nullable=True)
    seed: str = column("Seed of its generator, hex")
    algorithm: str = column("Name of the resampling scheme and of the generator")
    numpy_version: str = column("Version of NumPy that drew")
    input_digest: str = column("SHA-256 of the pairs that it is made from")
    registration_digest: str = column("SHA-256 of the registration")
    rules_digest: str = column("Digest of the rule set")

    class Config(Contract.Config):
        name = "campaign_comparisons"
        unique = ["campaign_key", "rules"]
        metadata = {"partition_by": ("campaign_key", "rules")}


COMPARED: tuple[type[Contract], ...] = (CampaignPairs, CampaignEffects, CampaignComparisons)
"""The tables that a comparison makes, in the order of its frames."""
