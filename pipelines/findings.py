"""What is found in stored partitions: the questions that the asset checks ask.

Here: a function per question, from tables and partition keys to findings. Not here: when a question is asked and what
becomes of its answer (`checks`).
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from assets.attempts.contract import Attempts
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.campaigns.contract import CampaignComparisons
from assets.contract import Contract, ContractError, conform, partition_by
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.land import TableStore
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet
from assets.tables import TABLES
from assets.verification.assets import verifications
from assets.verification.contract import Verifications
from pipelines import volume
from pipelines.partitions import RULES
from pipelines.staleness import difference, expected, recipe
from pipelines.storage.provenance import Provenance, values_of

QUARANTINE_WARNING = 0.05
"""Above this share of quarantined documents a check warns."""
REASONS_TOLD = 3
FIGURES_TOLD = 10

Key = Mapping[str, object]


class Finding(NamedTuple):
    """What a check found in one partition: how many rows it looked at, what is wrong with them, and how much more."""

    rows: int
    problems: list[str]
    untold: int = 0


Find = Callable[[TableStore, Sequence[Key]], Sequence[Finding]]
"""Looks at all partitions of a run at once: a finding for each, in their order."""


def each(find: Callable[[TableStore, Key], Finding], *contracts: type[Contract]) -> Find:
    """A question that is asked of one partition after another, and not of one that has no rows in any of the tables."""

    def found(tables: TableStore, keys: Sequence[Key]) -> list[Finding]:
        held = [(tables.rows(contract), partition_by(contract)) for contract in contracts]
        return [
            find(tables, key) if any(values_of(key, columns) in rows for rows, columns in held) else Finding(0, [])
            for key in keys
        ]

    return found


def one_verdict_each(rule_sets: Mapping[str, RuleSet]) -> Callable[[TableStore, Key], Finding]:
    """The question whether every attempt has one verdict and every verdict an attempt.

    What was decoded again beside the run that is checked has its verdicts yet to come, and is no fault of either.
    """
    made = recipe(verifications.get_asset_spec())

    def overtaken(tables: TableStore, key: Key) -> bool:
        day, rules = str(key["landed_on"]), rule_sets[str(key[RULES])]
        would = expected(made, day, rules, lambda table, values: tables.provenance(TABLES[table]).get(values))
        held = tables.provenance(Verifications).get((day, rules.id))
        return isinstance(would, Provenance) and bool(difference(held, would))

    def find(tables: TableStore, key: Key) -> Finding:
        attempts = tables.scan(Attempts, [{"landed_on": key["landed_on"]}]).select("attempt_id").collect()
        verdicts = tables.scan(Verifications, [key]).select("attempt_id").collect()
        several = verdicts.filter(verdicts.is_duplicated())["attempt_id"].unique()
        problems = [
            *(f"{id_} has no verdict" for id_ in attempts.join(verdicts, on="attempt_id", how="anti")["attempt_id"]),
            *(f"{id_} is no attempt" for id_ in verdicts.join(attempts, on="attempt_id", how="anti")["attempt_id"]),
            *(f"{id_} has several verdicts" for id_ in several),
        ]
        return Finding(attempts.height, [] if problems and overtaken(tables, key) else problems)

    return find


def recorded_agrees(tables: TableStore, key: Key) -> Finding:
    """Recorded figures that differ from the recomputed ones; the first of them are told."""
    rows = tables.scan(Reconciliation, [key])
    told_of = pl.coalesce("attempt_id", "run_id")
    differing = rows.filter(~pl.col("agrees")).select(told_of, "field", "recorded", "recomputed").collect()
    told = differing.sort(pl.all()).head(FIGURES_TOLD).rows()
    return Finding(
        rows.select(pl.len()).collect().item(),
        [f"{id_} {name}: {was} recorded, {now} recomputed" for id_, name, was, now in told],
        differing.height - len(told),
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


def quarantine_rates(tables: TableStore, keys: Sequence[Key]) -> list[Finding]:
    """How much of each day is in quarantine and why, where it is too much."""
    rows = tables.scan(Quarantine, keys).group_by("landed_on", "stage", "reason").agg(count=pl.len()).collect()
    landed = tables.scan(RawArtifacts, keys).group_by("landed_on").agg(documents=pl.col("uri").n_unique())
    totals = dict(landed.collect(engine="streaming").iter_rows())
    found = []
    for day in (key["landed_on"] for key in keys):
        total, counts = totals.get(day, 0), rows.filter(pl.col("landed_on") == day)
        ordered = counts.sort("count", "stage", "reason", descending=[True, False, False])
        told = ordered.select("count", "stage", "reason").head(REASONS_TOLD)
        reasons = ", ".join(f"{count} x {stage} {reason}" for count, stage, reason in told.iter_rows())
        reasons += ", …" if told.height < counts.height else ""
        quarantined = int(counts["count"].sum())
        too_many = quarantined > QUARANTINE_WARNING * total
        found.append(Finding(total, [f"{quarantined} of {total} documents: {reasons}"] if too_many else []))
    return found


def one_day_each(tables: TableStore, keys: Sequence[Key]) -> list[Finding]:
    """Attempts of each day that have rows on other days too."""
    every = tables.scan(Attempts).select("attempt_id", other="landed_on")
    mine = tables.scan(Attempts, keys).select("attempt_id", "landed_on")
    both = mine.join(every, on="attempt_id").filter(pl.col("landed_on") != pl.col("other")).sort(pl.all())
    others = both.collect(engine="streaming").rows_by_key("landed_on")
    counts = dict(mine.group_by("landed_on").len().collect(engine="streaming").iter_rows())
    return [
        Finding(counts.get(day, 0), [f"{id_} also landed on {other}" for id_, other in others.get(day, ())])
        for day in (key["landed_on"] for key in keys)
    ]


def usual_volume(tables: TableStore, keys: Sequence[Key]) -> list[Finding]:
    """What is much less or much more than usual on each day; a day that is not over is not judged."""
    today = dt.datetime.now(dt.UTC).date()
    days = [day for key in keys if isinstance(day := key["landed_on"], dt.date)]
    found = list(volume.told(tables, [day for day in days if day < today]))
    return [Finding(int(day < today), [text for of, text in found if of == day]) for day in days]


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
