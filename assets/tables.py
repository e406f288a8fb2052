"""Every table there is: the one place that knows all contracts, by layer.

Here: the registry. Not here: any contract itself (those live in `contract.py` of their domain folder), and where tables
are stored. A table that is not listed here does not exist for people: SQL, `scorehouse tables` and the documentation
read this list.
"""

from collections.abc import Mapping

from assets.assessments.contract import AssessmentScores
from assets.attempts.contract import PARTS
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.campaigns.contract import COMPARED, CampaignRegistrations
from assets.contract import Contract, table_name
from assets.landing.contract import Quarantine, RawArtifacts
from assets.reconciliation.contract import Reconciliation, RuleChanges
from assets.rewards.contract import Rewards, StageScores
from assets.verification.contract import PredicateResults, Verifications

LAYERS: Mapping[str, tuple[type[Contract], ...]] = {
    "landing": (RawArtifacts, CampaignRegistrations, Quarantine),
    "attempts": PARTS,
    "results": (
        PredicateResults,
        Verifications,
        AssessmentScores,
        StageScores,
        Rewards,
        BenchmarkMetrics,
        RunTotals,
        Reconciliation,
        RuleChanges,
    ),
    "campaigns": COMPARED,
}
"""The contracts of each layer, in the order in which the layer is read best."""

TABLES: Mapping[str, type[Contract]] = {
    table_name(contract): contract for contracts in LAYERS.values() for contract in contracts
}
"""Table name to its contract."""


def layer(name: str) -> str:
    """The layer of the table `name`.

    Raises:
        KeyError: there is no such table.
    """
    for layer_name, contracts in LAYERS.items():
        if TABLES[name] in contracts:
            return layer_name
    raise KeyError(name)
