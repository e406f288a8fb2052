"""What exists, from contracts and logs."""

import json
from pathlib import Path

import polars as pl
import pytest

from assets.attempts.contract import Attempts
from assets.contract import descriptions, schema
from assets.tables import LAYERS, TABLES, layer
from pipelines.cli.tables import sql_type
from tests.pipelines.cli.warehouse import Scorehouse


@pytest.mark.usefixtures("tables")
def test_json_lists_what_exists(scorehouse: Scorehouse) -> None:
    found = json.loads(scorehouse("tables", "--json").stdout)
    assert {table["name"]: table["rows"] for table in found} == {
        "raw_artifacts": 2,
        "quarantine": 3,
        "attempts": 4,
        "questions": 2,
        "verifications": 5,
    }
    for table in found:
        assert Path(table["uri"]).name == table["name"]
        assert (Path(table["uri"]) / "_delta_log").is_dir()


@pytest.mark.usefixtures("tables")
def test_json_of_one_table(scorehouse: Scorehouse) -> None:
    [table] = json.loads(scorehouse("tables", "verifications", "--json").stdout)
    assert table["partition_by"] == ["landed_on", "rules"]
    assert table["key"] == ["attempt_id", "rules", "landed_on"]
    partitions = [(part["landed_on"], part["rules"], part["rows"]) for part in table["partitions"]]
    assert partitions == [("2026-09-14", "v1", 2), ("2026-09-15", "v0", 1), ("2026-09-15", "v1", 2)]
    assert table["columns"][3] == {
        "name": "class",
        "type": "VARCHAR",
        "nullable": False,
        "description": "infrastructure_failure, agent_failure, inconclusive, ineligible or eligible",
    }


@pytest.mark.usefixtures("tables")
def test_people_see_columns_and_partitions(scorehouse: Scorehouse) -> None:
    result = scorehouse("tables", "attempts")
    assert result.exit_code == 0
    for name, description in descriptions(Attempts).items():
        assert name in result.stdout
        assert description in result.stdout
    assert "TIMESTAMP WITH TIME ZONE" in result.stdout


@pytest.mark.usefixtures("tables")
def test_people_see_what_is_not_made_yet(scorehouse: Scorehouse) -> None:
    told = scorehouse("tables").stdout.partition("not made yet: ")[2]
    assert "trajectory_days" in told.strip().split(", ")


def test_an_empty_warehouse(scorehouse: Scorehouse) -> None:
    result = scorehouse("tables")
    assert result.exit_code == 0
    assert "no tables yet" in result.stdout
    assert json.loads(scorehouse("tables", "--json").stdout) == []
    result = scorehouse("tables", "attempts")
    assert result.exit_code == 1
    assert "does not exist yet" in result.stderr


def test_a_wrong_name_names_the_nearest(scorehouse: Scorehouse) -> None:
    result = scorehouse("tables", "verification")
    assert result.exit_code == 2
    assert "did you mean verifications?" in result.stderr


def test_every_column_has_a_sql_type_and_every_table_a_layer() -> None:
    for name, contract in TABLES.items():
        assert layer(name) in LAYERS
        assert all(sql_type(dtype) for dtype in schema(contract).values())
    assert sql_type(pl.List(pl.Struct({"day": pl.Int64, "value": pl.Float64}))) == "STRUCT(day BIGINT, value DOUBLE)[]"
    with pytest.raises(KeyError):
        layer("nothing")
