"""Runs of everything in one process: land, decode, score, compare.

Here: which days, rule sets and campaigns a run takes, and the jobs one after another. What is taken is what is stale by
what is stored, so that a run that was interrupted is gone on with by the next one. Not here: what the jobs do (assets),
what is stale (`staleness`), how a person starts it and reads the summary (the command line).
"""

import datetime as dt
import gc
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property

import dagster as dg
import polars as pl

from assets.attempts.assets import LAYER
from assets.attempts.inputs import fingerprints
from assets.campaigns.contract import CampaignRegistrations
from assets.campaigns.current import registrations, stale
from assets.campaigns.registration import Registration
from assets.contract import table_name
from assets.landing.contract import RawArtifacts
from assets.landing.land import Progress, days_in_store
from assets.rulesets.loader import RuleSet, active, after_predecessors, load_all, select
from assets.sources.registry import patterns
from assets.tables import TABLES
from assets.verification.contract import Verifications
from pipelines import jobs, staleness
from pipelines.build import artifact_store, build_definitions, intake, table_store
from pipelines.checks import warned
from pipelines.instance import instance_in
from pipelines.ledger import FORCE
from pipelines.logs import RUN_CONFIG
from pipelines.partitions import campaigns as campaign_partitions
from pipelines.partitions import rule_sets as rule_set_partitions
from pipelines.released import refuse_changed, release
from pipelines.settings import Settings
from pipelines.storage.tables import Tables
from pipelines.summary import RunSummary

ROWS_AT_ONCE = 24_000_000
"""Rows of the attempts layer that one run of the results job takes: so much is lost at most when it is interrupted."""


class UnknownCampaignError(ValueError):
    """A campaign was named that is not registered."""


@dataclass
class Session:
    """The runs of one command: definitions, Dagster's instance, the tables, and what was done."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance
    tables: Tables
    progress: Progress | None = None
    force: bool = False
    bridge: dt.timedelta = jobs.BRIDGE
    summary: RunSummary = field(default_factory=RunSummary)
    _tables_made: bool = False

    def materialize(self, job: str, tags: Mapping[str, str], only: Sequence[str] | None = None) -> None:
        """Run a job over the partitions that `tags` name, or some of its tables only."""
        if self.progress:
            self.progress(job, 0, None)
        if not self._tables_made:  # once for all jobs of the session, and not where there is nothing to do
            self.tables.ensure(TABLES.values())
            self._tables_made = True
        try:
            # At one time, Dagster lists the days since the first one once for a run, not anew for every check.
            with dg.partition_loading_context(dt.datetime.now(dt.UTC), self.instance):
                result = self.definitions.resolve_job_def(job).execute_in_process(
                    instance=self.instance,
                    tags={**tags, **({FORCE: "true"} if self.force else {})},
                    run_config=RUN_CONFIG,
                    asset_selection=None if only is None else [dg.AssetKey(name) for name in only],
                )
        except dg.DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        # A run over many partitions reports the same materialization for each of them: one per asset counts.
        told = {
            event.asset_key.to_user_string(): event.materialization.metadata
            for event in result.filter_events(lambda event: event.is_step_materialization)
            if event.asset_key is not None
        }
        for name, metadata in told.items():
            self.summary.add(name, {key: value.value for key, value in metadata.items()})
        self.summary.warnings += warned(result.get_asset_check_evaluations())

    def land(self, days: Sequence[dt.date]) -> None:
        """Bring `raw_artifacts` up to date for these days."""
        for first, last in jobs.spans(days):
            self.materialize("landing", jobs.day_range(first, last), [table_name(RawArtifacts)])

    def decode(self, days: Sequence[dt.date]) -> None:
        """Decode these days into the tables of the attempts layer."""
        for first, last in jobs.spans(days, self.bridge):
            self.materialize("landing", jobs.day_range(first, last), [table_name(contract) for contract in LAYER])

    def score(self, days: Iterable[dt.date], rule_sets: Sequence[RuleSet]) -> None:
        """Compute what is stale of these days under these rule sets, newest first, in runs of bounded memory."""
        plan = self.plan(days, rule_sets)
        for one in plan.stale:
            self.summary.scored.setdefault(one.rules, Counter())[one.reason] += 1
        self.summary.fresh += plan.fresh
        self.summary.without_attempts += plan.without_attempts
        sizes = staleness.sizes_of_days(self.tables)
        for rules in rule_sets:
            stale_days = [one.day for one in plan.stale if one.rules == rules.id]
            for together in jobs.chunks(stale_days, sizes, ROWS_AT_ONCE):
                for first, last in reversed(jobs.spans(together, self.bridge)):
                    self.materialize("results", jobs.day_range_of_rules(first, last, rules.id))

    @cached_property
    def specs(self) -> list[dg.AssetSpec]:
        """The assets, as they declare themselves."""
        return list(self.definitions.resolve_all_asset_specs())

    @cached_property
    def recipes(self) -> list[staleness.Recipe]:
        """How the tables of the results layer come about."""
        return staleness.recipes(self.specs)

    def plan(self, days: Iterable[dt.date], rule_sets: Sequence[RuleSet]) -> staleness.Plan:
        """What `score` would compute."""
        return staleness.stale(self.tables, self.recipes, rule_sets, days, every=self.force)

    def compare(self, campaigns: Mapping[str, Sequence[str]]) -> None:
        """Compare campaigns, given by key for each rule set."""
        name = str(campaign_partitions.name)
        self.instance.add_dynamic_partitions(name, sorted({key for keys in campaigns.values() for key in keys}))
        for rules, keys in campaigns.items():
            for first, last in jobs.runs_of(keys, self.instance.get_dynamic_partitions(name)):
                self.materialize("campaigns", jobs.campaign_range(first, last, rules))
            self.summary.compared += [(key, rules) for key in keys]

    def compare_stale(self, rule_sets: Sequence[RuleSet]) -> None:
        """Compare again what is no longer of what is stored."""
        if not self.tables.exists(CampaignRegistrations):
            return
        found: dict[str, list[str]] = {rules.id: [] for rules in rule_sets}
        for one in stale(self.tables, rule_sets):
            found[one.rules].append(one.campaign_key)
        self.compare(found)


@contextmanager
def session(
    settings: Settings,
    rules: Sequence[str] = (),
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
    *,
    force: bool = False,
    **overrides: object,
) -> Iterator[tuple[Session, list[RuleSet]]]:
    """A session, and the named rule sets, or the active ones, as partitions of it, each after its predecessor.

    Raises:
        StoreError: a table cannot be read or written.
        RuleSetError: a rule set is unknown or malformed, or was changed after its release.
    """
    started = time.monotonic()
    rule_sets = load_all(settings.rulesets)
    wanted = after_predecessors(select(rule_sets, rules or active(rule_sets)))
    given = overrides.get("tables")
    tables = given if isinstance(given, Tables) else table_store(settings)
    refuse_changed(rule_sets, tables.notes(Verifications))
    release(tables, rule_sets)
    # The jobs share these tables, and what was read of their logs, instead of reading it once for each job.
    definitions = build_definitions(settings, **{**overrides, "tables": tables})
    with nullcontext(instance) if instance else instance_in(settings.dagster_home) as opened:
        opened.add_dynamic_partitions(str(rule_set_partitions.name), [rules.id for rules in wanted])
        if not gc.get_freeze_count():  # what was imported is no garbage: looking for it is a tenth of a small run
            gc.freeze()
        begun = Session(definitions, opened, tables, progress, force)
        begun.summary.rules = [rules.id for rules in wanted]
        yield begun, wanted
        begun.summary.seconds = time.monotonic() - started


def run(
    settings: Settings,
    from_day: dt.date | None = None,
    to_day: dt.date | None = None,
    rules: Sequence[str] = (),
    sources: Sequence[str] = (),
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
) -> RunSummary:
    """Land, decode, score and compare; by default every day in the store under the active rule sets.

    What is stored already, from the same bytes, code and rules, is not computed again.

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
    within = jobs.within(from_day, to_day)
    taken = intake(settings, patterns=patterns(settings.patterns, sources), progress=progress)
    store = artifact_store(settings)
    with session(settings, rules, progress, instance, artifact_store=store, intake=taken) as (begun, wanted):
        days = within({*days_in_store(store, taken.of([])), *landed_days(begun.tables)})
        begun.summary.days = days
        if days:
            begun.land(days)
            inputs = fingerprints(begun.tables, days, taken.limits)
            begun.decode(staleness.undecoded_days(begun.tables, begun.specs, inputs))
            begun.score(days, wanted)
            begun.compare_stale(wanted)
            begun.summary.describe(begun.tables)
    return begun.summary


def backfill(
    settings: Settings,
    rules: Sequence[str] = (),
    from_day: dt.date | None = None,
    to_day: dt.date | None = None,
    progress: Progress | None = None,
    instance: dg.DagsterInstance | None = None,
    *,
    force: bool = False,
) -> RunSummary:
    """Score what the attempts layer holds, newest day first, and compare campaigns; no artifact is looked at.

    What is complete is left alone, so that an interrupted backfill goes on where it was.

    Args:
        settings: where the tables are, rule sets.
        rules: ids of rule sets; default the active ones.
        from_day: first landing day; default the first that has attempts.
        to_day: last landing day; default the last that has attempts.
        progress: told how far it is.
        instance: Dagster's instance; by default the one in the settings' folder.
        force: compute what is complete, too.

    Raises:
        StoreError: a table cannot be read or written.
        RuleSetError: a rule set is unknown or malformed.
        ValueError: the range of days is reversed.
    """
    within = jobs.within(from_day, to_day)
    with session(settings, rules, progress, instance, force=force) as (begun, wanted):
        begun.summary.days = within(staleness.decoded_days(begun.tables))
        if begun.summary.days:
            begun.score(begun.summary.days, wanted)
            begun.compare_stale(wanted)
            begun.summary.describe(begun.tables)
            for before in select(load_all(settings.rulesets), sorted({one.predecessor or one.id for one in wanted})):
                days = staleness.outdated(begun.tables, begun.recipes, before, begun.summary.days)
                begun.summary.outdated |= {before.id: len(days)} if days else {}
    return begun.summary


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
    with session(settings, rules, progress, instance) as (begun, wanted):
        keys = sorted(registered(begun.tables, campaigns))
        begun.compare({rules.id: keys for rules in wanted})
        if not campaigns:
            begun.compare_stale(wanted)  # a campaign that is no longer registered loses its rows
    return begun.summary


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


def landed_days(tables: Tables) -> set[dt.date]:
    """Every day that anything was landed on: what vanished from the store since is flagged there."""
    if not tables.exists(RawArtifacts):
        return set()
    return set(tables.scan(RawArtifacts).select(pl.col("landed_on").unique()).collect(engine="streaming")["landed_on"])
