"""The IO manager inside Dagster: one day, several days, day by rules, and what a reader of either gets."""

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from deltalake import DeltaTable
from polars.testing import assert_frame_equal

from assets.contract import empty
from assets.rulesets.loader import load_all
from assets.table_asset import CONTRACT
from pipelines.partitions import DAY as DAY_DIMENSION
from pipelines.partitions import RULES, day_and_rules, day_of, days
from pipelines.storage.io_manager import DeltaTables, table_keys
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, NEXT_DAY, Attempts, Scores, day, rows, scored

rule_sets = dg.StaticPartitionsDefinition(["v1", "v2"])
days_by_rules = dg.MultiPartitionsDefinition({DAY_DIMENSION: days, RULES: rule_sets})
KEYS = [DAY.isoformat(), NEXT_DAY.isoformat()]


@pytest.fixture
def store(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "tables"))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


class House:
    """Two assets over two tables; what `scores` was given is kept."""

    def __init__(self, store: Tables, instance: dg.DagsterInstance, name: str = "a") -> None:
        self.store, self.instance, self.name = store, instance, name
        self.given: list[pl.DataFrame] = []

    def definitions(self, metadata: Mapping[str, Any] | None = None) -> dg.Definitions:
        told = {"metadata": {CONTRACT: "attempts"}} if metadata is None else {"metadata": metadata}

        @dg.asset(partitions_def=days, code_version="7", backfill_policy=dg.BackfillPolicy.single_run(), **told)
        def attempts(context: dg.AssetExecutionContext) -> pl.LazyFrame:
            found = [rows(Attempts, day(day_of(key)), [self.name]) for key in context.partition_keys]
            return pl.concat([empty(Attempts), *found]).lazy()

        @dg.asset(
            partitions_def=days_by_rules,
            backfill_policy=dg.BackfillPolicy.single_run(),
            metadata={CONTRACT: "scores"},
            ins={"attempts": dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping(DAY_DIMENSION))},
        )
        def scores(context: dg.AssetExecutionContext, attempts: pl.LazyFrame) -> pl.DataFrame:
            self.given.append(attempts.collect())
            keys = [key.keys_by_dimension for key in context.partition_keys if isinstance(key, dg.MultiPartitionKey)]
            return pl.concat(rows(Scores, scored(key[RULES], day_of(key[DAY_DIMENSION])), [self.name]) for key in keys)

        manager = DeltaTables(self.store, [Attempts, Scores], load_all())
        jobs = [dg.define_asset_job("landing", "attempts"), dg.define_asset_job("results", "scores")]
        return dg.Definitions([attempts, scores], jobs=jobs, resources={"io_manager": manager})

    def run(self, job: str, **arguments: Any) -> dg.ExecuteInProcessResult:
        return self.definitions().resolve_job_def(job).execute_in_process(instance=self.instance, **arguments)


@pytest.fixture
def house(store: Tables, instance: dg.DagsterInstance) -> House:
    return House(store, instance)


def span(first: str, last: str) -> dict[str, str]:
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def test_one_day_is_written_and_told(house: House, store: Tables) -> None:
    result = house.run("landing", partition_key=KEYS[0])

    assert_frame_equal(store.scan(Attempts).collect(), rows(Attempts, day(), ["a"]))
    (event,) = result.asset_materializations_for_node("attempts")
    told = {name: value.value for name, value in event.metadata.items()}
    assert (told["dagster/partition_row_count"], told["version"], told["dagster/uri"]) == (1, 1, store.uri(Attempts))
    assert told["bytes"] > 0
    noted = DeltaTable(store.uri(Attempts)).history(1)[0]
    assert (noted["run_id"], noted["code_version"]) == (result.run_id, "7")
    assert "rule_set_digest/v1" not in noted


def test_several_days_are_one_commit_that_leaves_the_others(house: House, store: Tables) -> None:
    house.run("landing", tags=span("2026-11-27", "2026-11-30"))
    house.name = "b"
    house.run("landing", tags=span(*KEYS))

    assert store.version(Attempts) == 2
    assert store.scan(Attempts).collect()["attempt_id"].to_list() == ["a", "a", "b", "b"]


def test_an_input_is_pruned_to_the_day_of_each_key(house: House, store: Tables) -> None:
    house.run("landing", tags=span("2026-11-28", "2026-11-30"))

    house.run("results", partition_key=day_and_rules(KEYS[0], "v2"))

    assert_frame_equal(house.given[0], rows(Attempts, day(), ["a"]))
    assert_frame_equal(store.scan(Scores).collect(), rows(Scores, scored("v2"), ["a"]))


def test_a_range_of_days_under_one_rule_set(house: House, store: Tables) -> None:
    house.run("landing", tags=span("2026-11-28", "2026-11-30"))
    first, last = (day_and_rules(key, "v1") for key in KEYS)

    house.run("results", tags=span(first, last))

    assert house.given[0]["landed_on"].to_list() == [DAY, NEXT_DAY]
    assert store.scan(Scores).collect().select("landed_on", "rules").rows() == [(DAY, "v1"), (NEXT_DAY, "v1")]
    noted = DeltaTable(store.uri(Scores)).history(1)[0]
    assert (noted["rule_set_digest/v1"], noted["rule_set_status/v1"]) == (load_all()["v1"].digest, "active")


def test_a_reversed_range_fails(house: House, store: Tables) -> None:
    store.ensure([Attempts])

    with pytest.raises(Exception, match=r"no partition keys|reversed|before"):
        house.run("landing", tags=span(*reversed(KEYS)))

    assert store.version(Attempts) == 0


def test_no_keys_fail() -> None:
    with pytest.raises(ValueError, match="attempts: the run has no partition keys; is its range reversed"):
        table_keys([], dg.AssetKey("attempts"))


def test_an_asset_can_be_loaded_by_hand(house: House) -> None:
    house.run("landing", partition_key=KEYS[0])

    frame = house.definitions().load_asset_value("attempts", partition_key=KEYS[0], instance=house.instance)

    assert_frame_equal(frame.collect(), rows(Attempts, day(date(2026, 11, 29)), ["a"]))


@pytest.mark.parametrize("metadata", [{}, {CONTRACT: "nonsense"}])
def test_an_asset_without_a_known_contract_fails(house: House, metadata: dict[str, str]) -> None:
    job = house.definitions(metadata).resolve_job_def("landing")

    with pytest.raises(
        dg.DagsterInvalidDefinitionError, match=r"attempts: scorehouse/contract is .* tables are attempts, scores"
    ):
        job.execute_in_process(instance=house.instance, partition_key=KEYS[0])


def test_a_broken_frame_fails_the_run_and_writes_nothing(house: House, store: Tables) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["kept"]), [day()])
    house.name = None  # type: ignore[assignment]

    result = house.run("landing", partition_key=KEYS[0], raise_on_error=False)

    assert not result.success
    assert store.scan(Attempts).collect()["attempt_id"].to_list() == ["kept"]


def test_an_empty_frame_empties_the_partition(store: Tables, instance: dg.DagsterInstance) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["old"]), [day()])

    @dg.asset(partitions_def=days, metadata={CONTRACT: "attempts"})
    def attempts() -> pl.DataFrame:
        return empty(Attempts)

    resources = {"io_manager": DeltaTables(store, [Attempts])}
    dg.materialize([attempts], instance=instance, partition_key=KEYS[0], resources=resources)

    assert store.scan(Attempts).collect().is_empty()
