"""Asset checks: which partitions they look at, which of them run, and what they say."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.attempts.contract import Attempts
from assets.rewards.contract import Rewards
from assets.tables import TABLES
from pipelines.build import build_definitions, table_store
from pipelines.checks import Warned, warned
from pipelines.jobs import day_range_of_rules
from pipelines.partitions import day_and_rules
from pipelines.settings import Settings
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, attempt, store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "artifacts").mkdir()
    return Settings(str(tmp_path / "artifacts"), str(tmp_path / "tables"), tmp_path / "dagster")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        opened.add_dynamic_partitions("rules", ["v1"])
        for day in (DAY_1, DAY_2):
            key = day_and_rules(day.isoformat(), "v1")
            opened.report_runless_asset_event(dg.AssetMaterialization("rewards", partition=key))
        yield opened


@pytest.fixture
def tables(settings: Settings) -> Tables:
    made = table_store(settings)
    made.ensure(TABLES.values())
    reward = {"rules": "v1", "reward_kind": "worldseq-harbor-utility/1", "verified": 0, "reason": "crash"}
    landed = enumerate((DAY_1, DAY_2, DAY_2))
    store(made, Rewards, *({**reward, "attempt_id": f"worldseq:{number}", "landed_on": day} for number, day in landed))
    return made


@pytest.mark.parametrize(
    ("tags", "rows"),
    [({}, 3), (day_range_of_rules(DAY_1, DAY_1, "v1"), 1), ({"dagster/partition": f"{DAY_2}|v1"}, 2)],
    ids=["by itself: everything materialized", "a range", "one partition"],
)
def test_a_check_looks_at_the_partitions_of_its_run(
    settings: Settings, instance: dg.DagsterInstance, tables: Tables, tags: dict[str, str], rows: int
) -> None:
    check = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("rewards"), "contract"))
    definitions = dg.Definitions.merge(
        build_definitions(settings, tables=tables), dg.Definitions(jobs=[dg.define_asset_job("alone", check)])
    )
    result = definitions.resolve_job_def("alone").execute_in_process(instance=instance, tags=tags)
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.passed
    assert evaluation.metadata["rows"].value == rows


def test_one_check_of_a_step_can_run_alone(settings: Settings, tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:a", DAY_2))
    alone = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("attempts"), "one_day_each"))
    definitions = dg.Definitions.merge(
        build_definitions(settings, tables=tables), dg.Definitions(jobs=[dg.define_asset_job("alone", alone)])
    )
    with dg.DagsterInstance.ephemeral() as instance:
        result = definitions.resolve_job_def("alone").execute_in_process(
            instance=instance, tags={"dagster/partition": DAY_1.isoformat()}
        )
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.severity == dg.AssetCheckSeverity.WARN
    assert warned([evaluation]) == [
        Warned(
            "attempts",
            "one_day_each",
            "No attempt has rows on several days; `_current` views choose.",
            1,
            [f"{DAY_1}: worldseq:a also landed on {DAY_2}"],
        )
    ]
