"""Asset checks: contracts block what is downstream, reconciliation, quarantine and volume warn.

Here: what is asked of stored partitions, one result per run with figures per partition. Not here: the validation before
each commit (`storage.tables`), which no stored row can have passed by, and what is asked at an hour (`freshness`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import dagster as dg

from assets.attempts.contract import PARTS, Attempts
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.campaigns.contract import COMPARED, CampaignComparisons
from assets.contract import Contract, partition_by, table_name
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.land import TableStore
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet
from assets.tables import TABLES
from assets.verification.contract import Verifications
from pipelines import findings
from pipelines.jobs import PARTITION, RANGE_END, RANGE_START
from pipelines.partitions import RULES, campaigns_by_rules, days, days_by_rules
from pipelines.storage.io_manager import table_key
from pipelines.storage.provenance import values_of
from pipelines.volume import WINDOW_DAYS

EXAMPLES = 10


class Check(NamedTuple):
    """One question asked of a table's stored partitions."""

    contract: type[Contract]
    name: str
    description: str
    find: findings.Find
    blocking: bool = False
    proven_when_written: bool = False  # the commit itself proves it: what the same run wrote is not read again

    @property
    def spec(self) -> dg.AssetCheckSpec:
        """The check as Dagster knows it."""
        asset = table_name(self.contract)
        return dg.AssetCheckSpec(self.name, asset=asset, description=self.description, blocking=self.blocking)


class Warned(NamedTuple):
    """A check that did not pass: what should hold, how often it does not, and the first of those cases."""

    table: str
    check: str
    expected: str
    problems: int
    examples: list[str]


def warned(evaluations: Iterable[dg.AssetCheckEvaluation]) -> list[Warned]:
    """The checks that did not pass."""
    return [
        Warned(
            one.asset_key.to_user_string(),
            one.check_name,
            one.description or "",
            int(str(one.metadata["problems"].value)),
            _examples(one.metadata["examples"].value),
        )
        for one in evaluations
        if not one.passed
    ]


def _examples(problems: object) -> list[str]:
    found = problems.items() if isinstance(problems, dict) else ()
    return [f"{partition}: {text}" for partition, texts in found for text in texts][:EXAMPLES]


def asked(rule_sets: Mapping[str, RuleSet]) -> list[Check]:
    """Every check, those of the contracts first."""
    own = [
        Check(
            Quarantine,
            "quarantine_rate",
            f"At most {findings.QUARANTINE_WARNING:.0%} of a day is in quarantine.",
            findings.quarantine_rates,
        ),
        Check(
            Attempts,
            "one_day_each",
            "No attempt has rows on several days; `_current` views choose.",
            findings.one_day_each,
        ),
        Check(
            Attempts,
            "volume",
            f"From half to double as much of a source came as is usual in the {WINDOW_DAYS} days before.",
            findings.usual_volume,
        ),
        Check(
            Verifications,
            "one_verdict_each",
            "Each attempt has exactly one class.",
            findings.each(findings.one_verdict_each(rule_sets), Attempts, Verifications),
            blocking=True,
        ),
        Check(
            BenchmarkMetrics,
            "headline_unavailable",
            "No headline figure of the scored alone leaves out more tasks than the rule set allows.",
            findings.each(findings.headline_unavailable(rule_sets), BenchmarkMetrics),
        ),
        Check(
            CampaignComparisons,
            "conclusive",
            "The comparison comes to a verdict, and rests on enough companies.",
            findings.each(findings.conclusive, CampaignComparisons),
        ),
        Check(
            RunTotals,
            "runs_finished",
            "No run has trials that are still running.",
            findings.each(findings.runs_finished, RunTotals),
        ),
        Check(
            Reconciliation,
            "recorded_agrees",
            "What upstream recorded is what the rules give.",
            findings.each(findings.recorded_agrees, Reconciliation),
        ),
    ]
    contracts = [
        Check(
            contract,
            "contract",
            "The stored rows fulfil the table's contract.",
            findings.each(findings.contract_fulfilled(contract), contract),
            blocking=True,
            proven_when_written=True,
        )
        for contract in TABLES.values()
        if contract is not RawArtifacts
    ]
    return [*contracts, *own]


def checks(rule_sets: Mapping[str, RuleSet]) -> list[dg.AssetChecksDefinition]:
    """Every check, in as few steps as blocking allows, since a step costs more than what it asks.

    The tables of the attempts layer come from one step and are checked in one, and so do those of the campaigns; those
    of the results layer follow from each other, and each is checked before the next is computed. Quarantine and
    registrations are written where nothing else is, and a step is skipped where any of its tables is not written.
    """
    steps: dict[str, list[Check]] = {}
    for check in asked(rule_sets):
        of_layer = {"attempts_layer": PARTS, "campaigns_layer": COMPARED}
        name = next((name for name, tables in of_layer.items() if check.contract in tables), table_name(check.contract))
        steps.setdefault(name, []).append(check)
    return [_step(f"{name}_checks", together) for name, together in steps.items()]


def _step(name: str, together: Sequence[Check]) -> dg.AssetChecksDefinition:
    partitions = _partitioned(together[0].contract)

    @dg.multi_asset_check(name=name, specs=[check.spec for check in together], can_subset=True)
    def step(
        context: dg.AssetCheckExecutionContext, tables: dg.ResourceParam[TableStore]
    ) -> Iterator[dg.AssetCheckResult]:
        keys = _partitions(context, table_name(together[0].contract), partitions)
        for check in together:
            if check.spec.key not in context.selected_asset_check_keys:
                continue
            open_ = _unproven(tables, check, keys, context.run.run_id) if check.proven_when_written else keys
            found = check.find(tables, [table_key(key) for key in open_]) if open_ else ()
            wrong = {str(key): finding for key, finding in zip(open_, found, strict=True) if finding.problems}
            yield dg.AssetCheckResult(
                asset_key=table_name(check.contract),
                check_name=check.name,
                passed=not wrong,
                severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
                description=check.description,
                metadata={
                    "rows": sum(finding.rows for finding in found),
                    "partitions_proven_when_written": len(keys) - len(open_),
                    "problems": sum(len(finding.problems) + finding.untold for finding in wrong.values()),
                    "examples": {key: finding.problems[:EXAMPLES] for key, finding in wrong.items()},
                },
            )

    return step


def _unproven(tables: TableStore, check: Check, keys: Sequence[str], run_id: str) -> list[str]:
    """The partitions that another run wrote than the one that asks."""
    noted = tables.provenance(check.contract)
    values = {key: values_of(table_key(key), partition_by(check.contract)) for key in keys}
    return [key for key, of in values.items() if not ((one := noted.get(of)) and one.run_id == run_id)]


def _partitioned(contract: type[Contract]) -> dg.PartitionsDefinition[str]:
    """How the table's asset is partitioned."""
    if "campaign_key" in partition_by(contract):
        return campaigns_by_rules
    return days_by_rules if RULES in partition_by(contract) else days


def _partitions(
    context: dg.AssetCheckExecutionContext, asset: str, partitions: dg.PartitionsDefinition[str]
) -> Sequence[str]:
    """The partition keys of the run that a check belongs to, from its tags: a check has no partitions of its own.

    A check that is run by itself, from the UI, looks at every partition of `asset` that is materialized.
    """
    tags = context.run.tags
    if not {PARTITION, RANGE_START} & tags.keys():
        stored = context.instance.get_materialized_partitions(dg.AssetKey(asset))
        known = partitions.get_partition_keys(dynamic_partitions_store=context.instance)
        return [key for key in known if key in stored]
    taken = dg.PartitionKeyRange(*(tags.get(PARTITION) or tags[end] for end in (RANGE_START, RANGE_END)))
    with dg.partition_loading_context(dynamic_partitions_store=context.instance):
        return partitions.get_partition_keys_in_range(taken)
