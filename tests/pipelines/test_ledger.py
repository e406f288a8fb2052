"""Inside a step: what is complete is left alone, what is forced is not, and what changes meanwhile is never lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from assets.attempts.contract import Attempts
from assets.contract import Contract
from assets.rulesets.loader import RuleSetError
from pipelines import jobs
from pipelines.build import build_definitions, table_store
from pipelines.ledger import FORCE
from pipelines.settings import Settings
from pipelines.storage.tables import Tables
from tests.benchmarks.rescoring import FIRST
from tests.integration.backfills import RESULTS, copied, done, recomputed, run_ids, store, versions
from tests.integration.warehouses import rows

DAY = FIRST.isoformat()
RANGE = jobs.day_range_of_rules(FIRST, FIRST, "v2")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two days, complete under v1."""
    return store(tmp_path_factory.mktemp("scored"), days=2, attempts=6)


@pytest.fixture
def where(scored: Settings, tmp_path: Path) -> Settings:
    return copied(scored, tmp_path)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        opened.add_dynamic_partitions("rules", ["v1", "v2", "nobody"])
        yield opened


def run(where: Settings, instance: dg.DagsterInstance, tags: Mapping[str, str], *only: str, **overrides: Any) -> dict:
    """Run the results job, or some of its tables; what each materialization tells of computed and fresh partitions."""
    result = (
        build_definitions(where, **overrides)
        .resolve_job_def("results")
        .execute_in_process(
            instance=instance, tags=tags, asset_selection=[dg.AssetKey(name) for name in only] if only else None
        )
    )
    events = result.filter_events(lambda event: event.is_step_materialization)
    told = ((event.asset_key, event.materialization.metadata) for event in events)
    return {
        asset.to_user_string(): (metadata["computed"].value, metadata["fresh"].value)
        for asset, metadata in told
        if asset is not None
    }


def test_a_run_that_is_forced_computes_what_is_complete(where: Settings, instance: dg.DagsterInstance) -> None:
    tags = jobs.day_range_of_rules(FIRST, FIRST, "v1")
    before, published = run_ids(where), versions(where)
    assert run(where, instance, tags) == dict.fromkeys(RESULTS, (0, 1))
    assert versions(where) == published
    assert run(where, instance, {**tags, FORCE: "true"}) == dict.fromkeys(RESULTS, (1, 0))
    assert recomputed(before, run_ids(where)) == {(table, (DAY, "v1")) for table in RESULTS}


def test_a_run_of_one_table_leaves_the_others(where: Settings, instance: dg.DagsterInstance) -> None:
    assert run(where, instance, RANGE, "predicate_results") == {"predicate_results": (1, 0)}
    assert run(where, instance, RANGE, "predicate_results", "verifications") == {
        "predicate_results": (0, 1),
        "verifications": (1, 0),
    }


def test_what_it_is_computed_from_must_be_computed_first(where: Settings, instance: dg.DagsterInstance) -> None:
    before = versions(where)
    with pytest.raises(dg.Failure) as failed:
        run(where, instance, RANGE, "rule_changes")
    told = f"rule_changes of {DAY} under v2: predicate_results, rewards, verifications of it must be computed first"
    assert failed.value.description == told
    assert versions(where) == before


def test_a_day_without_attempts_is_no_failure(where: Settings, instance: dg.DagsterInstance) -> None:
    before = versions(where)
    told = run(where, instance, jobs.day_range_of_rules(FIRST.replace(day=20), FIRST.replace(day=21), "v2"))
    assert told == dict.fromkeys(RESULTS, (0, 0))
    assert versions(where) == before


def test_a_partition_of_a_rule_set_that_nobody_made(where: Settings, instance: dg.DagsterInstance) -> None:
    with pytest.raises(RuleSetError, match="no rule set 'nobody'; there are v1, v2"):
        run(where, instance, jobs.day_range_of_rules(FIRST, FIRST, "nobody"))


@dataclass(frozen=True)
class Overtaken(Tables):
    """Tables of which the attempts of a day are replaced just before they are read."""

    happened: list[str] = field(default_factory=list)

    def scan(
        self, contract: type[Contract], keys: Sequence[Mapping[str, object]] | None = None, version: int | None = None
    ) -> pl.LazyFrame:
        if contract is Attempts and not self.happened:
            self.happened.append("replaced")
            fewer = super().scan(Attempts, [{"landed_on": FIRST}]).collect().head(2)
            self.replace(Attempts, fewer, [{"landed_on": FIRST}], {"code_version": "1", "input_fingerprint": '["2"]'})
        return super().scan(contract, keys, version)


def test_what_changes_between_its_note_and_its_rows_is_computed_once_more(
    where: Settings, instance: dg.DagsterInstance
) -> None:
    moving = Overtaken(where.tables)
    run(where, instance, RANGE, "predicate_results", "verifications", tables=moving)
    assert moving.happened == ["replaced"]
    noted = table_store(where).provenance(Attempts)[DAY,]
    assert noted.inputs == "2"
    summary = done(where, "v2")
    assert summary.scored["v2"]["the inputs changed"] + summary.scored["v2"]["not computed yet"] == 2
    judged = rows(where, "verifications").filter(pl.col("rules") == "v2", pl.col("landed_on") == FIRST)
    assert judged.height == rows(where, "attempts").filter(pl.col("landed_on") == FIRST).height == 2
    assert done(where, "v2").computed == {}
