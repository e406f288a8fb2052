"""Asset of the landing layer: `raw_artifacts`. The `quarantine` is written where documents are decoded."""

import time
from collections.abc import Callable

import dagster as dg

from assets.landing.contract import RawArtifacts
from assets.landing.land import Intake, Store, TableStore, land
from assets.table_asset import described
from pipelines.partitions import day_of, days

CODE_VERSION = "1"

asset: Callable[[Callable[..., dg.MaterializeResult[None]]], dg.AssetsDefinition] = dg.asset(
    name="raw_artifacts",
    group_name="landing",
    code_version=CODE_VERSION,
    partitions_def=days,
    backfill_policy=dg.BackfillPolicy.single_run(),
    **described(RawArtifacts),
)


@asset
def raw_artifacts(
    context: dg.AssetExecutionContext,
    artifact_store: dg.ResourceParam[Store],
    tables: dg.ResourceParam[TableStore],
    intake: dg.ResourceParam[Intake],
) -> dg.MaterializeResult[None]:
    """Every object of the store, byte for byte; only what is new or changed is fetched."""
    started = time.monotonic()
    wanted = [day_of(key) for key in context.partition_keys]
    noted = {"run_id": context.run.run_id, "code_version": CODE_VERSION}  # the batch is a fingerprint of its objects
    landed = land(artifact_store, tables, intake.of(wanted), noted, intake.progress)
    seconds = time.monotonic() - started
    rates = {"seconds": round(seconds, 3), "objects_per_second": round(landed.listed / seconds)}
    told = {**landed._asdict(), **rates, "dagster/uri": tables.uri(RawArtifacts)}
    if landed.newest_modified:
        told["newest_modified"] = dg.MetadataValue.timestamp(landed.newest_modified)
    return dg.MaterializeResult(metadata={name: value for name, value in told.items() if value is not None})
