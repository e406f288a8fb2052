"""Asset checks: contracts block what is downstream, reconciliation and quarantine warn.

Here: what is asked of stored partitions, one result per run with figures per partition. Not here: the validation before
each commit (`storage.tables`), which no stored row can have passed by.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import dagster as dg
import polars as pl

from assets.attempts.contract import Attempts
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.campaigns.contract import CampaignComparisons
from assets.contract import Contract, ContractError, conform, partition_by, table_name
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.land import TableStore
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet
from assets.tables import TABLES
from assets.verification.contract import Verifications
from pipelines.jobs import RANGE_END, RANGE_START
from pipelines.partitions import RULES, campaigns_by_rules, days, days_by_rules
from pipelines.storage.io_manager import table_key

QUARANTINE_WARNING = 0.05
"""Above this share of quarantined documents a check warns."""
EXAMPLES = 10
PARTITION = "dagster/partition"

Key = Mapping[str, object]


class Finding(NamedTuple):
    """What a check found in one partition: how many rows it looked at, and what is wrong with them."""

    rows: int
    problems: list[str]


class Check(NamedTuple):
    """One question asked of a table's stored partitions."""

    contract: type[Contract]
    name: str
    description: str
    find: Callable[[TableStore, Key], Finding]
    blocking: bool = False

    @property
    def spec(self) -> dg.AssetCheckSpec:
        """The check as Dagster knows it."""
        asset = table_name(self.contract)
        return dg.AssetCheckSpec(self.name, asset=asset, description=self.description, blocking=self.blocking)


def asked(rule_sets: Mapping[str, RuleSet]) -> list[Check]:
    """Every check, those of the contracts first."""
    own = [
        Check(
            Quarantine,
            "quarantine_rate",
            f"At most {QUARANTINE_WARNING:.0%} of a day is in quarantine.",
            quarantine_rate,
        ),
        Check(Attempts, "one_day_each", "No attempt has rows on several days; `_current` views choose.", one_day_each),
        Check(
            Verifications, "one_verdict_each", "Each attempt has exactly one class.", one_verdict_each, blocking=True
        ),
        Check(
            BenchmarkMetrics,
            "headline_unavailable",
            "No headline figure of the scored alone leaves out more tasks than the rule set allows.",
            headline_unavailable(rule_sets),
        ),
        Check(
            CampaignComparisons,
            "conclusive",
            "The comparison comes to a verdict, and rests on enough companies.",
            conclusive,
        ),
        Check(RunTotals, "runs_finished", "No run has trials that are still running.", runs_finished),
        Check(Reconciliation, "recorded_agrees", "What upstream recorded is what the rules give.", recorded_agrees),
    ]
    contracts = [
        Check(
            contract,
            "contract",
            "The stored rows fulfil the table's contract.",
            contract_fulfilled(contract),
            blocking=True,
        )
        for contract in TABLES.values()
        if contract is not RawArtifacts
    ]
    return [*contracts, *own]


def checks(rule_sets: Mapping[str, RuleSet]) -> list[dg.AssetChecksDefinition]:
    """Every check, in as few steps as blocking allows, since a step costs more than what it asks.

    The tables of the attempts layer come from one step and are checked in one, and so do those of the campaigns; those
    of the results layer follow from each other, and each is checked before the next is computed.
    """
    steps: dict[str, list[Check]] = {}
    for check in asked(rule_sets):
        name = {days: "attempts_layer", campaigns_by_rules: "campaigns_layer"}.get(
            _partitioned(check.contract), table_name(check.contract)
        )
        steps.setdefault(name, []).append(check)
    return [_step(f"{name}_checks", together) for name, together in steps.items()]


def one_verdict_each(tables: TableStore, key: Key) -> Finding:
    """Attempts without a verdict, and verdicts without an attempt."""
    attempts = tables.scan(Attempts, [{"landed_on": key["landed_on"]}]).select("attempt_id").collect()
    verdicts = tables.scan(Verifications, [key]).select("attempt_id").collect()
    return Finding(
        attempts.height,
        [f"{id_} has no verdict" for id_ in attempts.join(verdicts, on="attempt_id", how="anti")["attempt_id"]]
        + [f"{id_} is no attempt" for id_ in verdicts.join(attempts, on="attempt_id", how="anti")["attempt_id"]]
        + [f"{id_} has several verdicts" for id_ in verdicts.filter(verdicts.is_duplicated())["attempt_id"].unique()],
    )


def recorded_agrees(tables: TableStore, key: Key) -> Finding:
    """Recorded figures that differ from the recomputed ones."""
    rows = tables.scan(Reconciliation, [key])
    told_of = pl.coalesce("attempt_id", "run_id")
    differing = rows.filter(~pl.col("agrees")).select(told_of, "field", "recorded", "recomputed").collect()
    return Finding(
        rows.select(pl.len()).collect().item(),
        [f"{id_} {name}: {was} recorded, {now} recomputed" for id_, name, was, now in differing.sort(pl.all()).rows()],
    )


def headline_unavailable(rule_sets: Mapping[str, RuleSet]) -> Callable[[TableStore, Key], Finding]:
    """The check that no headline figure is one of survivors, under the limit of the partition's rule set."""

    def find(tables: TableStore, key: Key) -> Finding:
        headlines = tables.scan(BenchmarkMetrics, [key]).filter("headline", pl.col("policy") == "scored_only")
        rows = headlines.select("run_id", "benchmark", "metric", "reducer", "unavailable", "total").collect()
        limit = rule_sets[str(key[RULES])].benchmark.unavailable_warning
        flattering = rows.filter(pl.col("unavailable") > limit * pl.col("total")).sort(pl.all())
        return Finding(
            rows.height,
            [
                f"{run} {benchmark}: {metric} ({reducer}) leaves out {unavailable} of {total}"
                for run, benchmark, metric, reducer, unavailable, total in flattering.iter_rows()
            ],
        )

    return find


def conclusive(tables: TableStore, key: Key) -> Finding:
    """A comparison without a verdict, and every reason for it."""
    rows = tables.scan(CampaignComparisons, [key]).select("campaign_id", "verdict", "reasons").collect()
    open_ = rows.filter((pl.col("verdict") == "inconclusive") | pl.col("reasons").list.contains("too_few_companies"))
    return Finding(
        rows.height, [f"{id_}: {', '.join(reasons) or 'the interval'}" for id_, _, reasons in open_.iter_rows()]
    )


def runs_finished(tables: TableStore, key: Key) -> Finding:
    """Runs whose figures will still change."""
    rows = tables.scan(RunTotals, [key]).select("run_id", "benchmark", "running").collect()
    unfinished = rows.filter(pl.col("running") > 0).sort("run_id", "benchmark")
    return Finding(
        rows.height,
        [f"{run} {benchmark or ''}: {running} running" for run, benchmark, running in unfinished.iter_rows()],
    )


def quarantine_rate(tables: TableStore, key: Key) -> Finding:
    """How much of the day is in quarantine and why, where it is too much."""
    rows = tables.scan(Quarantine, [key]).select("stage", "reason").collect()
    landed = tables.scan(RawArtifacts).filter(pl.col("landed_on") == key["landed_on"])
    total = int(landed.select(pl.col("uri").n_unique()).collect().item())
    if rows.height <= QUARANTINE_WARNING * total:
        return Finding(total, [])
    counts = rows.group_by("stage", "reason").len().sort("len", "stage", "reason", descending=[True, False, False])
    reasons = ", ".join(f"{count} x {stage} {reason}" for stage, reason, count in counts.iter_rows())
    return Finding(total, [f"{rows.height} of {total} documents: {reasons}"])


def one_day_each(tables: TableStore, key: Key) -> Finding:
    """Attempts of the day that have rows on other days too."""
    mine = tables.scan(Attempts, [key]).select("attempt_id")
    others = tables.scan(Attempts).filter(pl.col("landed_on") != key["landed_on"]).select("attempt_id", "landed_on")
    both = others.join(mine, on="attempt_id", how="semi").collect(engine="streaming").sort("attempt_id", "landed_on")
    return Finding(
        mine.select(pl.len()).collect().item(), [f"{id_} also landed on {day}" for id_, day in both.iter_rows()]
    )


def contract_fulfilled(contract: type[Contract]) -> Callable[[TableStore, Key], Finding]:
    """The check that the stored rows of a partition fulfil their contract."""

    def find(tables: TableStore, key: Key) -> Finding:
        rows = tables.scan(contract, [key]).collect(engine="streaming")
        try:
            conform(contract, rows)
        except ContractError as error:
            return Finding(rows.height, [str(error)])
        return Finding(rows.height, [])

    return find


def _step(name: str, together: Sequence[Check]) -> dg.AssetChecksDefinition:
    partitions = _partitioned(together[0].contract)

    @dg.multi_asset_check(name=name, specs=[check.spec for check in together])
    def step(
        context: dg.AssetCheckExecutionContext, tables: dg.ResourceParam[TableStore]
    ) -> Iterator[dg.AssetCheckResult]:
        keys = _partitions(context, table_name(together[0].contract), partitions)
        for check in together:
            found = {str(key): check.find(tables, table_key(key)) for key in keys}
            problems = {key: finding.problems for key, finding in found.items() if finding.problems}
            yield dg.AssetCheckResult(
                asset_key=table_name(check.contract),
                check_name=check.name,
                passed=not problems,
                severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
                metadata={
                    "rows": sum(finding.rows for finding in found.values()),
                    "problems": sum(map(len, problems.values())),
                    "examples": {key: texts[:EXAMPLES] for key, texts in problems.items()},
                },
            )

    return step


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
