"""Assets of the campaigns: pairs, effects and comparisons, and a report of each."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Protocol

import dagster as dg
import polars as pl

from assets.campaigns.comparison import CODE_VERSION, comparison
from assets.campaigns.contract import COMPARED
from assets.campaigns.current import current, failed_predicates, paired, primary_unit, registrations, reported
from assets.campaigns.report import report
from assets.contract import empty, table_name
from assets.landing.land import TableStore
from assets.rulesets.loader import RuleSet, select
from assets.table_asset import IO_MANAGER, Ledger, described
from pipelines.partitions import CAMPAIGN, DAY, RULES, campaigns_by_rules

# Written out: an inferred mapping takes a campaign for a day. A campaign is made of every day under its rule set.
OF_RULES = dg.MultiPartitionMapping(
    {
        RULES: dg.DimensionPartitionMapping(RULES, dg.IdentityPartitionMapping()),
        DAY: dg.DimensionPartitionMapping(CAMPAIGN, dg.AllPartitionMapping()),
    }
)
BY_DAY_AND_RULES = ("verifications", "rewards", "assessment_scores", "predicate_results")
BY_DAY = ("attempts", "trajectory_days", "campaign_registrations")


class Reports(Protocol):
    """Where reports are kept."""

    def write(self, campaign_key: str, rules: str, text: str) -> str:
        """Keep the report of a campaign under a rule set, and say where."""


@dg.multi_asset(
    name="compare",
    outs={
        table_name(contract): dg.AssetOut(
            group_name="campaigns", code_version=CODE_VERSION, io_manager_key=IO_MANAGER, **described(contract)
        )
        for contract in COMPARED
    },
    deps=[
        *(dg.AssetDep(name, partition_mapping=OF_RULES) for name in BY_DAY_AND_RULES),
        *(dg.AssetDep(name, partition_mapping=dg.AllPartitionMapping()) for name in BY_DAY),
    ],
    partitions_def=campaigns_by_rules,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def campaigns(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    rule_sets: dg.ResourceParam[Mapping[str, RuleSet]],
    reports: dg.ResourceParam[Reports],
    ledger: dg.ResourceParam[Ledger],
) -> Iterator[dg.Output[pl.DataFrame]]:
    """Compare the run's campaigns under its rule sets; one that is no longer registered leaves no rows."""
    wanted = defaultdict(list)
    for key in context.partition_keys:
        if not isinstance(key, dg.MultiPartitionKey):
            raise TypeError(f"{key!r} is no key of campaign and rule set")
        wanted[key.keys_by_dimension[RULES]].append(key.keys_by_dimension[CAMPAIGN])
    known = registrations(tables)
    beside = {(key, rules): "" for rules, keys in wanted.items() for key in keys}
    made = []
    written = {}
    for rules in select(rule_sets, sorted(wanted)):
        found = [known[key] for key in wanted[rules.id] if key in known]
        rows = current(tables, [registration.campaign_id for registration in found], rules)
        for registration in found:
            pair = paired(registration, rows, rules)
            compared = comparison(registration, pair, rules)
            failed = failed_predicates(registration, pair, rows)
            beside[registration.campaign_key, rules.id] = reported(failed, pair.unregistered)
            text = report(compared, registration, failed, pair.unregistered, primary_unit(pair, rows))
            written[f"report/{rules.id}/{registration.campaign_key}"] = reports.write(
                registration.campaign_key, rules.id, text
            )
            made.append(compared)
    ledger.campaigns(COMPARED, beside)
    for contract, frames in zip(COMPARED, zip(*made, strict=True) if made else [()] * len(COMPARED), strict=True):
        yield dg.Output(
            pl.concat([empty(contract), *frames]),
            output_name=table_name(contract),
            metadata={name: dg.MetadataValue.url(uri) for name, uri in written.items()},
        )
