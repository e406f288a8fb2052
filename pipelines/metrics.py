"""Metrics of what is stored, as OpenMetrics text: how much landed, what became of it, and how old it is.

Here: which figures there are, computed from the tables alone. Not here: where the text goes (`cli.metrics`), and
figures of a run (its log). Every one is a gauge, so that the text is valid in Prometheus' older format too, which
node_exporter reads. No label is an id of an attempt, a run or a campaign: there are as many series as sources, rule
sets and reasons. What is not there has no series; a class that no attempt of a source has is 0.

https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from assets.attempts.contract import Attempts
from assets.attempts.evidence import KEY
from assets.attempts.precedence import PRECEDENCE, across_days
from assets.contract import Contract
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.manifest import latest
from assets.reconciliation.contract import Reconciliation
from assets.verification.contract import Verifications
from assets.vocabulary import CLASSES
from pipelines.partitions import RULES
from pipelines.storage.tables import Tables

Figures = Iterable[tuple[Sequence[str], float]]

MISSING = "missing"  # of a campaign's inventory: no attempt has this class
MILLISECONDS = 1000


class _Stored(Collector):
    """The figures of the tables at one moment."""

    def __init__(self, tables: Tables, now: dt.datetime) -> None:
        self._tables, self._now = tables, now

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every family, also where it has no series yet."""
        yield from _landing(self._tables, self._now)
        yield _gauge(
            "quarantined_documents",
            "Documents in quarantine, by what is wrong with them",
            ("source", "stage", "reason"),
            _counted(self._tables, Quarantine, ("source", "stage", "reason")),
        )
        yield _gauge(
            "attempts",
            "Attempts by class under a rule set, each once: the row of its newest and best document",
            (RULES, "source", "class"),
            _classes(self._tables),
        )
        yield _gauge(
            "disagreements",
            "Figures that upstream recorded and that are not what the rules give",
            (RULES,),
            _disagreements(self._tables),
        )
        yield from _results(self._tables, self._now)


def text(tables: Tables, now: dt.datetime) -> str:
    """The metrics as OpenMetrics text; without tables, families without series.

    Raises:
        StoreError: a table cannot be read.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Stored(tables, now))
    exposed: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]  # no annotations there
    return exposed.decode()


def _gauge(name: str, told: str, labels: Sequence[str], figures: Figures, unit: str = "") -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"scorehouse_{name}", told, labels=labels, unit=unit)
    for values, figure in sorted(figures):
        family.add_metric(values, figure)
    return family


def _landing(tables: Tables, now: dt.datetime) -> Iterator[GaugeMetricFamily]:
    """Of the objects whose content is held, the newest arrival of each: how many, how large, and how new."""
    columns = ("uri", "landed_on", "batch", "source", "size_bytes", "ingested_at", "vanished", "fetch_reason")
    by_source: dict[str, Mapping[str, Any]] = {}
    if tables.exists(RawArtifacts):
        held = latest(tables.scan(RawArtifacts).select(columns)).filter(
            ~pl.col("vanished"), pl.col("fetch_reason").is_null()
        )
        figures = held.group_by("source").agg(
            objects=pl.len(),
            bytes=pl.col("size_bytes").sum(),
            at=pl.col("ingested_at").max(),
            day=pl.col("landed_on").max().cast(pl.Datetime("us", "UTC")),
        )
        by_source = {row["source"]: row for row in figures.collect(engine="streaming").iter_rows(named=True)}

    def of(name: str) -> Figures:
        return [([source], row[name]) for source, row in by_source.items()]

    def at(name: str) -> Figures:
        return [([source], row[name].timestamp()) for source, row in by_source.items()]

    yield _gauge("landed_objects", "Objects whose content is held", ("source",), of("objects"))
    yield _gauge("landed_bytes", "Their size as they arrived", ("source",), of("bytes"), "bytes")
    yield from _age("landing", "the newest object landed", ("source",), at("at"), now)
    told = "Beginning of the newest day that anything landed on"
    yield _gauge("landing_day_timestamp_seconds", told, ("source",), at("day"), "seconds")


def _age(
    name: str, told: str, labels: Sequence[str], moments: Figures, now: dt.datetime
) -> Iterator[GaugeMetricFamily]:
    """A moment, and how long ago it was; alerts go by the moment, since a text that is no longer written ages not."""
    moments = list(moments)
    yield _gauge(f"{name}_timestamp_seconds", f"When {told}", labels, moments, "seconds")
    lags = [(values, now.timestamp() - moment) for values, moment in moments]
    yield _gauge(f"{name}_lag_seconds", f"Seconds since {told}, when this was written", labels, lags, "seconds")


def _counted(tables: Tables, contract: type[Contract], labels: Sequence[str]) -> Figures:
    if not tables.exists(contract):
        return ()
    rows = tables.scan(contract).group_by(labels).agg(count=pl.len()).collect(engine="streaming")
    return [(values, count) for *values, count in rows.select(*labels, "count").iter_rows()]


def _classes(tables: Tables) -> Figures:
    """Attempts by rule set, source and class; those of several days under the document that the views choose."""
    if not (tables.exists(Attempts) and tables.exists(Verifications)):
        return ()
    every = tables.scan(Attempts)
    repeated = every.group_by("attempt_id").agg(rows=pl.len()).filter(pl.col("rows") > 1)
    columns = ("attempt_id", *(one.column for one in PRECEDENCE))
    rows = every.select(columns).join(repeated, on="attempt_id", how="semi").collect(engine="streaming")
    beaten = rows.join(across_days(rows), on=KEY, how="anti")
    counted = (
        tables.scan(Verifications)
        .select(*KEY, RULES, "class")
        .join(beaten.lazy(), on=KEY, how="anti")
        .group_by(RULES, pl.col("attempt_id").str.extract("^([^:]*)").alias("source"), "class")
        .agg(count=pl.len())
        .collect(engine="streaming")
    )
    told = {(rules, source, class_): n for rules, source, class_, n in counted.iter_rows()}
    among = {(rules, source) for rules, source, _ in told}
    return [((*of, class_), told.get((*of, class_), 0)) for of in among for class_ in CLASSES if class_ != MISSING]


def _disagreements(tables: Tables) -> Figures:
    if not tables.exists(Reconciliation):
        return ()
    rows = tables.scan(Reconciliation).group_by(RULES).agg((~pl.col("agrees")).sum()).collect(engine="streaming")
    return [([rules], count) for rules, count in rows.iter_rows()]


def _results(tables: Tables, now: dt.datetime) -> Iterator[GaugeMetricFamily]:
    """When verdicts were last committed under each rule set, as the commits say, those without any row included."""
    newest: dict[str, int] = {}
    for (_, rules), noted in tables.provenance(Verifications).items():
        newest[rules] = max(newest.get(rules, 0), noted.at)
    moments = [([rules], at / MILLISECONDS) for rules, at in newest.items() if at]
    yield from _age("results", "results were last written under the rule set", (RULES,), moments, now)
