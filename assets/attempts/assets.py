"""Assets of the attempts layer: every part of an attempt, and the quarantine, from one decoding of the stored bytes."""

from collections.abc import Iterator

import dagster as dg
import polars as pl

from assets.attempts.contract import PARTS
from assets.attempts.decoding import Spool, decode
from assets.attempts.inputs import fingerprints
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import Contract, table_name
from assets.landing.contract import Quarantine
from assets.landing.land import Intake, TableStore
from assets.table_asset import IO_MANAGER, Ledger, described
from pipelines.partitions import day_of, days

CODE_VERSION = "2"

LANDED: tuple[type[Contract], ...] = (CampaignRegistrations, Quarantine)
LAYER: tuple[type[Contract], ...] = (*PARTS, *LANDED)


@dg.multi_asset(
    name="decode",
    outs={
        table_name(contract): dg.AssetOut(
            group_name="landing" if contract in LANDED else "attempts",
            code_version=CODE_VERSION,
            is_required=False,
            io_manager_key=IO_MANAGER,
            **described(contract),
        )
        for contract in LAYER
    },
    deps=["raw_artifacts"],
    partitions_def=days,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def attempts(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[TableStore],
    spool: dg.ResourceParam[Spool],
    intake: dg.ResourceParam[Intake],
    ledger: dg.ResourceParam[Ledger],
) -> Iterator[dg.Output[pl.LazyFrame]]:
    """Decode the stored bytes of the run's days into the tables of the layer, but not again what is decoded."""
    wanted = [day_of(key) for key in context.partition_keys]
    due = ledger.days(context, fingerprints(tables, wanted, intake.limits))
    together = sorted(set().union(*due.values()))
    if not together:
        return
    decoded = decode(tables, together, intake.limits, spool, intake.progress)
    for contracts, days_due in due.items():
        if not days_due:  # nothing is materialized then, so that nothing follows
            continue
        for name in map(table_name, contracts):
            rows = decoded.tables[name].filter(pl.col("landed_on").is_in(days_due))
            yield dg.Output(rows, output_name=name, metadata=decoded.metadata(name))
