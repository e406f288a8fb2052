"""One run of everything in one process: land, decode, score.

Here: which days and rule sets a run takes, the jobs one after another, and its summary. Not here: what the jobs do
(assets), how a person starts it and reads the summary (the command line).
"""

import datetime as dt
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from filelock import FileLock

from assets.campaigns.contract import CampaignComparisons, CampaignRegistrations
from assets.campaigns.current import registrations
from assets.campaigns.registration import Registration
from assets.landing.contract import RawArtifacts
from assets.landing.land import Progress, days_in_store
from assets.rulesets.loader import RuleSet, active, load_all, select
from assets.sources.registry import patterns
from pipelines import jobs
from pipelines.build import artifact_store, build_definitions, intake, table_store
from pipelines.checks import Warned, warned
from pipelines.logs import RUN_CONFIG
from pipelines.partitions import campaigns as campaign_partitions
from pipelines.partitions import rule_sets as rule_set_partitions
from pipelines.settings import Settings
from pipelines.storage.errors import StoreConfigurationError
from pipelines.storage.tables import Tables

INSTANCE_CONFIG = "telemetry:\n  enabled: false\nnux:\n  enabled: false\n"


class UnknownCampaignError(ValueError):
    """A campaign was named that is not registered."""


@dataclass
class RunSummary:
    """What a run did: documents, attempts and their classes, and rows written per table."""

    days: list[dt.date] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    listed: int = 0
    fetched: int = 0
    unchanged: int = 0
    vanished: int = 0
    bytes_fetched: int = 0
    quarantined: Counter[tuple[str, str]] = field(default_factory=Counter)
    attempts: int = 0
    identical_copies: int = 0
    classes: dict[str, Counter[str]] = field(default_factory=dict)
    disagreements: int = 0
    warnings: list[Warned] = field(default_factory=list)
    tables: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


@contextmanager
def instance_in(home: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance in `home`, created on first use, without telemetry.

    Raises:
        StoreConfigurationError: the folder cannot be made or written.
    """
    config = home / "dagster.yaml"
    try:
        home.mkdir(parents=True, exist_ok=True)
        # Of several processes that make Dagster's SQLite storage at once most fail. A folder that cannot be written
        # holds the configuration of a storage elsewhere.
        with FileLock(home / ".opening.lock") if os.access(home, os.W_OK) else nullcontext():
            if not config.exists():
                config.write_text(INSTANCE_CONFIG, encoding="utf-8")
            instance = dg.DagsterInstance.from_config(str(home))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreConfigurationError(f"{home}: cannot hold Dagster's storage: {reason}; set DAGSTER_HOME") from None
    with instance as opened:
        yield opened


def run(
    settings: Settings,
    from_day: dt.date | None = None,
    to_day: dt.date | None = None,
    rules: Sequence[str] = (),
    sources: Sequence[str] = (),
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunSummary:
    """Land, decode and score; by default every day in the store under the active rule sets.

    Args:
        settings: where artifacts and tables are, limits, rule sets.
        from_day: first landing day.
        to_day: last landing day.
        rules: ids of rule sets.
        sources: sources to land; what of others was landed before is kept.
        progress: told how far the run is.
        instance: Dagster's instance; by default the one in the settings' folder.

    Raises:
        StoreError: the artifacts cannot be read or the tables cannot be written.
        RuleSetError: a rule set is unknown or malformed.
        ValueError: the range of days is reversed, or a source is unknown.
    """
    started = time.monotonic()
    if from_day and to_day:
        jobs.day_range(from_day, to_day)
    rule_sets = load_all(settings.rulesets)
    wanted = select(rule_sets, rules or active(rule_sets))
    taken = intake(settings, patterns=patterns(settings.patterns, sources), progress=progress)
    store = artifact_store(settings)
    held = table_store(settings)
    days = [
        day
        for day in sorted({*days_in_store(store, taken.of([])), *landed_days(held)})
        if (from_day is None or day >= from_day) and (to_day is None or day <= to_day)
    ]
    summary = RunSummary(days=days, rules=[rules.id for rules in wanted])
    definitions = build_definitions(settings, artifact_store=store, intake=taken)
    with nullcontext(instance) if instance else instance_in(settings.dagster_home) as opened:
        opened.add_dynamic_partitions(str(rule_set_partitions.name), [rules.id for rules in wanted])
        for first, last in jobs.spans(days):
            _materialize(definitions, opened, "landing", jobs.day_range(first, last), summary, progress)
            for rules_ in wanted:
                tags = jobs.day_range_of_rules(first, last, rules_.id)
                _materialize(definitions, opened, "results", tags, summary, progress)
        if days:
            _compare(definitions, opened, held, wanted, (), summary, progress)
    summary.seconds = time.monotonic() - started
    return summary


def compare(
    settings: Settings,
    campaigns: Sequence[str] = (),
    rules: Sequence[str] = (),
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunSummary:
    """Compare the named campaigns, by id or key, or all, under the named rule sets or the active ones.

    Raises:
        StoreError: a table cannot be read or written.
        RuleSetError: a rule set is unknown or malformed.
        UnknownCampaignError: a campaign is not registered.
    """
    started = time.monotonic()
    rule_sets = load_all(settings.rulesets)
    wanted = select(rule_sets, rules or active(rule_sets))
    summary = RunSummary(rules=[rules.id for rules in wanted])
    definitions = build_definitions(settings)
    with nullcontext(instance) if instance else instance_in(settings.dagster_home) as opened:
        opened.add_dynamic_partitions(str(rule_set_partitions.name), [rules.id for rules in wanted])
        _compare(definitions, opened, table_store(settings), wanted, campaigns, summary, progress)
    summary.seconds = time.monotonic() - started
    return summary


def registered(tables: Tables, campaigns: Sequence[str] = ()) -> dict[str, Registration]:
    """The registrations of the named campaigns, by id, else by key, or of all; by campaign key.

    Raises:
        UnknownCampaignError: a campaign is not registered.
    """
    known = registrations(tables) if tables.exists(CampaignRegistrations) else {}
    ids = {one.campaign_id: key for key, one in known.items()}
    wanted = {ids.get(name, name) for name in campaigns}
    for name in campaigns:
        if ids.get(name, name) not in known:
            told = ", ".join(ids) or "none"
            raise UnknownCampaignError(f"no campaign {name!r} is registered; there are {told}")
    return {key: one for key, one in known.items() if not campaigns or key in wanted}


def _compare(
    definitions: dg.Definitions,
    opened: dg.DagsterInstance,
    tables: Tables,
    rule_sets: Sequence[RuleSet],
    campaigns: Sequence[str],
    summary: RunSummary,
    progress: Progress | None,
) -> None:
    keys = sorted(registered(tables, campaigns))
    if not campaigns and tables.exists(CampaignComparisons):
        # A campaign that is no longer registered loses its rows.
        stored = tables.scan(CampaignComparisons).select(pl.col("campaign_key").unique()).collect()
        keys = sorted({*keys, *stored["campaign_key"]})
    opened.add_dynamic_partitions(str(campaign_partitions.name), keys)
    for rules in rule_sets:
        for first, last in jobs.runs_of(keys, opened.get_dynamic_partitions(str(campaign_partitions.name))):
            tags = jobs.campaign_range(first, last, rules.id)
            _materialize(definitions, opened, "campaigns", tags, summary, progress)


def landed_days(tables: Tables) -> set[dt.date]:
    """Every day that anything was landed on: what vanished from the store since is flagged there."""
    if not tables.exists(RawArtifacts):
        return set()
    return set(tables.scan(RawArtifacts).select(pl.col("landed_on").unique()).collect(engine="streaming")["landed_on"])


def _materialize(
    definitions: dg.Definitions,
    opened: dg.DagsterInstance,
    job: str,
    tags: dict[str, str],
    summary: RunSummary,
    progress: Progress | None,
) -> None:
    if progress:
        progress(job, 0, None)
    try:
        result = definitions.resolve_job_def(job).execute_in_process(instance=opened, tags=tags, run_config=RUN_CONFIG)
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    # A run over many partitions reports the same materialization for each of them: one per asset counts.
    told = {
        event.asset_key.to_user_string(): event.materialization.metadata
        for event in result.filter_events(lambda event: event.is_step_materialization)
        if event.asset_key is not None
    }
    for name, metadata in told.items():
        _add(summary, name, {key: value.value for key, value in metadata.items()})
    summary.warnings += warned(result.get_asset_check_evaluations())


def _add(summary: RunSummary, name: str, metadata: dict[str, Any]) -> None:
    """Add what one materialization tells to the summary."""
    rows = metadata.get("rows", 0)
    summary.tables[name] += rows
    if name == "raw_artifacts":
        for figure in ("listed", "fetched", "unchanged", "vanished", "bytes_fetched"):
            setattr(summary, figure, getattr(summary, figure) + metadata[figure])
    elif name == "attempts":
        summary.attempts += rows
        summary.identical_copies += metadata["identical_copies"]
    elif name == "reconciliation":
        summary.disagreements += metadata["disagreements"]
    for (kind, first, second), count in _counts(metadata):
        if kind == "quarantined":
            summary.quarantined[first, second] += count
        elif kind == "class":
            summary.classes.setdefault(first, Counter())[second] += count


def _counts(metadata: dict[str, Any]) -> Iterator[tuple[list[str], int]]:
    """Metadata named `kind/first/second`, such as `class/v1/eligible`."""
    for key, value in metadata.items():
        parts = key.split("/", 2)
        if parts[0] in {"quarantined", "class"} and len(parts) == len(("kind", "first", "second")):
            yield parts, value
