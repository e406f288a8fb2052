"""The one place where Definitions are put together; every resource can be overridden."""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from assets.assessments import assets as assessments
from assets.attempts import assets as attempts
from assets.benchmarks import assets as benchmarks
from assets.campaigns import assets as campaigns
from assets.landing import assets as landing
from assets.landing.land import Intake
from assets.reconciliation import assets as reconciliation
from assets.rewards import assets as rewards
from assets.rulesets.loader import RuleSet, load_all
from assets.sources.documents import Limits
from assets.sources.registry import patterns
from assets.table_asset import IO_MANAGER
from assets.tables import TABLES
from assets.verification import assets as verification
from assets.verification.contract import Verifications
from pipelines import freshness, jobs
from pipelines.automation import AFTER_INPUTS, results_follow
from pipelines.checks import checks
from pipelines.ledger import Ledger
from pipelines.logs import LOGGERS
from pipelines.notify import failures_told
from pipelines.partitions import FIRST_DAY
from pipelines.released import refuse_changed, release
from pipelines.schedules import nightly
from pipelines.sensors import campaigns_touched, late_artifacts, results_behind, rules_bumped
from pipelines.settings import Settings
from pipelines.storage.artifact_store import ArtifactStore
from pipelines.storage.io_manager import DeltaTables
from pipelines.storage.options import store_options
from pipelines.storage.reports import Reports
from pipelines.storage.scratch import scratch
from pipelines.storage.spool import Spool
from pipelines.storage.tables import Tables

DOMAINS = (landing, attempts, verification, assessments, rewards, benchmarks, reconciliation, campaigns)


def artifact_store(settings: Settings) -> ArtifactStore:
    """The artifact store of the settings."""
    options = store_options(settings.artifacts, settings.aws)
    return ArtifactStore(settings.artifacts, options, concurrency=settings.fetch_concurrency)


def table_store(settings: Settings) -> Tables:
    """The tables of the settings; nothing is created."""
    return Tables(settings.tables, store_options(settings.tables, settings.aws))


def report_store(settings: Settings) -> Reports:
    """The reports, beside the tables of the settings."""
    return Reports(settings.tables, store_options(settings.tables, settings.aws))


def intake(settings: Settings, **changes: Any) -> Intake:
    """How artifacts are taken in under these settings."""
    given = {
        "patterns": patterns(settings.patterns),
        "first_day": FIRST_DAY,
        "max_object_bytes": settings.max_object_bytes,
        "batch_bytes": settings.batch_bytes,
        "limits": Limits(max_depth=settings.max_depth),
    }
    return Intake(**{**given, **changes})


def resources(settings: Settings, rule_sets: Mapping[str, RuleSet]) -> dict[str, Any]:
    """Every resource, by the name that assets ask for."""

    @dg.resource(description="The Delta tables, created with their full schemas before anything is written.")
    def tables(_context: dg.InitResourceContext) -> Tables:
        store = table_store(settings)
        refuse_changed(rule_sets, store.notes(Verifications))
        store.ensure(TABLES.values())
        release(store, rule_sets)
        return store

    @dg.resource(description="Temporary files of one run.")
    def spool(_context: dg.InitResourceContext) -> Iterator[Spool]:
        with scratch() as folder:
            yield Spool(folder)

    @dg.resource(required_resource_keys={"tables"}, description="What a step has to compute, and what it leaves alone.")
    def ledger(context: dg.InitResourceContext) -> Ledger:
        return Ledger(context.resources.tables, rule_sets)

    @dg.io_manager(
        required_resource_keys={"tables", "ledger"}, description="Reads and writes whole partitions of the tables."
    )
    def io_manager(context: dg.InitResourceContext) -> DeltaTables:
        return DeltaTables(context.resources.tables, TABLES.values(), rule_sets, context.resources.ledger)

    return {
        "artifact_store": artifact_store(settings),
        "tables": tables,
        "ledger": ledger,
        "spool": spool,
        "intake": intake(settings),
        "rule_sets": rule_sets,
        "reports": report_store(settings),
        IO_MANAGER: io_manager,
    }


def build_definitions(settings: Settings, **overrides: Any) -> dg.Definitions:
    """Everything that Dagster shows and runs.

    Args:
        settings: where artifacts and tables are, limits, rule sets.
        overrides: resources by name, in place of those that the settings give.
    """
    rule_sets = load_all(settings.rulesets)
    assets = [
        asset.map_asset_specs(lambda spec: spec.replace_attributes(automation_condition=AFTER_INPUTS))
        if {spec.group_name for spec in asset.specs} <= set(jobs.RESULTS_GROUPS)
        else asset
        for asset in dg.load_assets_from_modules(DOMAINS)
        if isinstance(asset, dg.AssetsDefinition)
    ]
    specs = [spec for asset in assets for spec in asset.specs]
    return dg.Definitions(
        assets=assets,
        asset_checks=[*checks(rule_sets), freshness.check(rule_sets, specs)],
        jobs=[jobs.landing, jobs.results, jobs.campaigns, freshness.job],
        schedules=[nightly(settings.look_back_days), freshness.schedule],
        sensors=[
            results_follow,
            rules_bumped(rule_sets, specs),
            late_artifacts(settings.look_back_days, specs),
            results_behind(rule_sets, specs, settings.look_back_days),
            campaigns_touched(rule_sets),
            *([failures_told(settings.webhook, settings)] if settings.webhook else []),
        ],
        resources={**resources(settings, rule_sets), **overrides},
        # A step computes on every core by itself; a process for each of them only costs its start and its imports.
        executor=dg.in_process_executor,
        loggers=LOGGERS,
    )
