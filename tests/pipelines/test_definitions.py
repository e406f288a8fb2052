"""The workspace: its asset graph, its contracts in the UI, and what follows by itself."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.contract import schema
from assets.tables import TABLES
from pipelines.build import build_definitions
from pipelines.partitions import day_and_rules
from pipelines.settings import Settings

COMPARED = {
    "attempts",
    "trajectory_days",
    "campaign_registrations",
    "predicate_results",
    "verifications",
    "assessment_scores",
    "rewards",
}
# A table that vanishes from here vanishes from every report: look twice before editing.
GRAPH = {
    "raw_artifacts": set(),
    "campaign_registrations": {"raw_artifacts"},
    "attempts": {"raw_artifacts"},
    "trajectory_days": {"raw_artifacts"},
    "task_predicates": {"raw_artifacts"},
    "agreements": {"raw_artifacts"},
    "questions": {"raw_artifacts"},
    "answers": {"raw_artifacts"},
    "branches": {"raw_artifacts"},
    "stage_values": {"raw_artifacts"},
    "observations": {"raw_artifacts"},
    "benchmark_runs": {"raw_artifacts"},
    "recorded_values": {"raw_artifacts"},
    "quarantine": {"raw_artifacts"},
    "predicate_results": {
        "attempts",
        "trajectory_days",
        "task_predicates",
        "agreements",
        "questions",
        "answers",
        "branches",
    },
    "verifications": {
        "attempts",
        "trajectory_days",
        "observations",
        "stage_values",
        "predicate_results",
        "recorded_values",
    },
    "assessment_scores": {"attempts", "trajectory_days", "questions", "answers", "branches"},
    "stage_scores": {"stage_values"},
    "rewards": {"attempts", "observations", "stage_values", "verifications", "recorded_values"},
    "benchmark_metrics": {"observations", "benchmark_runs", "rewards"},
    "run_totals": {"observations", "benchmark_runs", "rewards"},
    "reconciliation": {
        "attempts",
        "observations",
        "recorded_values",
        "predicate_results",
        "verifications",
        "assessment_scores",
        "rewards",
        "benchmark_metrics",
        "run_totals",
    },
    "rule_changes": {"verifications", "rewards", "predicate_results"},
    "campaign_pairs": COMPARED,
    "campaign_effects": COMPARED,
    "campaign_comparisons": COMPARED,
}


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "artifacts").mkdir()
    return build_definitions(Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster"))


@pytest.fixture(scope="module")
def specs(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}


def test_the_definitions_load(definitions: dg.Definitions) -> None:
    dg.Definitions.validate_loadable(definitions)


def test_the_asset_graph(specs: dict[str, dg.AssetSpec]) -> None:
    graph = {name: {dep.asset_key.to_user_string() for dep in spec.deps} for name, spec in specs.items()}
    assert graph == GRAPH


def test_every_table_is_an_asset_of_its_name(specs: dict[str, dg.AssetSpec]) -> None:
    assert set(specs) == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_each_asset_shows_its_contract(name: str, specs: dict[str, dg.AssetSpec]) -> None:
    spec = specs[name]
    shown = spec.metadata["dagster/column_schema"]
    columns = shown.value.columns if isinstance(shown, dg.TableSchemaMetadataValue) else shown.columns
    assert [column.name for column in columns] == list(schema(TABLES[name]))
    assert all(column.description for column in columns)
    assert spec.description
    assert spec.owners
    assert spec.kinds == {"polars", "deltalake"}
    assert spec.group_name != "default"
    assert spec.code_version


def test_contract_checks_block_and_the_others_warn(definitions: dg.Definitions) -> None:
    checks = {
        (spec.asset_key.to_user_string(), spec.name): spec.blocking
        for definition in definitions.asset_checks or ()
        for spec in definition.check_specs
    }
    contracts = {(name, "contract"): True for name in TABLES if name != "raw_artifacts"}
    assert checks == {
        **contracts,
        ("verifications", "one_verdict_each"): True,
        ("reconciliation", "recorded_agrees"): False,
        ("quarantine", "quarantine_rate"): False,
        ("attempts", "one_day_each"): False,
        ("attempts", "volume"): False,
        ("raw_artifacts", "fresh"): False,
        ("verifications", "fresh"): False,
        ("benchmark_metrics", "headline_unavailable"): False,
        ("run_totals", "runs_finished"): False,
        ("campaign_comparisons", "conclusive"): False,
    }


def updated(instance: dg.DagsterInstance, day: str) -> None:
    for name, upstream in GRAPH.items():
        if upstream == {"raw_artifacts"}:
            instance.report_runless_asset_event(dg.AssetMaterialization(name, partition=day))


def requested(definitions: dg.Definitions, instance: dg.DagsterInstance, cursor: Any = None) -> tuple[set[str], Any]:
    result = dg.evaluate_automation_conditions(defs=definitions, instance=instance, cursor=cursor)
    keys = result.get_requested_partitions(dg.AssetKey("predicate_results"))
    return {str(key) for key in keys if key is not None}, result.cursor


def test_results_follow_new_attempts_of_any_day_under_registered_rule_sets(definitions: dg.Definitions) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("rules", ["v1"])
        nothing, cursor = requested(definitions, instance)
        assert nothing == set()
        # A day long past: late artifacts must be scored like yesterday's.
        updated(instance, "2026-01-05")
        first, cursor = requested(definitions, instance, cursor)
        assert first == {str(day_and_rules("2026-01-05", "v1"))}
        again, cursor = requested(definitions, instance, cursor)
        assert again == set()
        # Registering a rule set computes nothing by itself: a backfill is a person's decision.
        instance.add_dynamic_partitions("rules", ["v2"])
        registered, _ = requested(definitions, instance, cursor)
        assert registered == set()


def test_a_workspace_file_names_the_code_location() -> None:
    workspace = (Path(__file__).parents[2] / "workspace.yaml").read_text(encoding="utf-8")
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert "module_name: pipelines.definitions" in workspace
    assert "location_name: scorehouse" in workspace
    assert 'code_location_name = "scorehouse"' in project
