"""What is stale: each cause alone, on tables that hold nothing but what their commits say of them."""

import datetime as dt
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.attempts.assets import CODE_VERSION, LAYER
from assets.attempts.contract import PARTS, Attempts
from assets.attempts.inputs import NOTHING
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import empty, table_name
from assets.landing.contract import Quarantine
from assets.rulesets.loader import RuleSet, load_all, parse
from assets.tables import LAYERS, TABLES, layer
from pipelines.build import build_definitions
from pipelines.released import notes
from pipelines.settings import Settings
from pipelines.staleness import FORCED, Plan, Recipe, expected, parts, recipes, stale, undecoded, undecoded_days
from pipelines.storage.provenance import Provenance
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import attempt, frame

FIRST, LAST = dt.date(2026, 9, 14), dt.date(2026, 9, 15)
DAYS = [FIRST, LAST]
V1_TEXT = (Path(__file__).parents[2] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")
RESULTS = [table_name(contract) for contract in LAYERS["results"]]


def bumped(id_: str, predecessor: str, calls: int = 900) -> RuleSet:
    head = f'id = "{id_}"\npredecessor = "{predecessor}"'
    text = V1_TEXT.replace('id = "v1"', head).replace("player_calls = 1024", f"player_calls = {calls}")
    return parse(text.replace('"active"', '"candidate"'), f"{id_}.toml")


V1, V2 = load_all()["v1"], bumped("v2", "v1")


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> list[dg.AssetSpec]:
    folder = tmp_path_factory.mktemp("nothing")
    made = Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster")
    return list(build_definitions(made).resolve_all_asset_specs())


@pytest.fixture(scope="module")
def ordered(specs: list[dg.AssetSpec]) -> list[Recipe]:
    return recipes(specs)


def note(tables: Tables, table: str, keys: list[dict[str, object]], inputs: list[str], **noted: str) -> None:
    """An empty partition of which a commit says this."""
    told = {"input_fingerprint": json.dumps(inputs), **noted}
    tables.replace(TABLES[table], empty(TABLES[table]), keys, told)


def decode(tables: Tables, days: Iterable[dt.date], only: str | None = None, inputs: str = "1") -> None:
    """The attempts layer of these days, or one table of it."""
    for contract in LAYER:
        if only in (None, table_name(contract)):
            keys: list[dict[str, object]] = [{"landed_on": day} for day in days]
            note(tables, table_name(contract), keys, [f"{inputs} {day}" for day in days], code_version=CODE_VERSION)


def score(tables: Tables, ordered: list[Recipe], rules: RuleSet, days: Iterable[dt.date], **changes: str) -> None:
    """What the results layer would be of these days under a rule set, with the notes that it would have."""
    for made in ordered:
        stored = {name: tables.provenance(TABLES[name]) for name in made.inputs}
        would = [expected(made, str(day), rules, lambda table, values: stored[table].get(values)) for day in days]  # noqa: B023 - called at once
        inputs = [one.inputs for one in would if isinstance(one, Provenance)]
        keys: list[dict[str, object]] = [{"landed_on": day, "rules": rules.id} for day in days]
        noted = {"code_version": made.code_version, **notes([rules]), **changes}
        note(tables, made.table, keys, inputs, **noted)


@pytest.fixture(scope="module")
def template(ordered: list[Recipe], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days, complete under v1 and v2."""
    tables = Tables(str(tmp_path_factory.mktemp("tables")))
    decode(tables, DAYS)
    for rules in (V1, V2):
        score(tables, ordered, rules, DAYS)
    return Path(tables.root)


@pytest.fixture
def tables(template: Path, tmp_path: Path) -> Tables:
    return Tables(str(shutil.copytree(template, tmp_path / "tables")))


def found(plan: Plan) -> dict[tuple[dt.date, str], tuple[str, set[str]]]:
    return {(one.day, one.rules): (one.reason, set(one.tables)) for one in plan.stale}


def below(ordered: list[Recipe], *tables: str) -> set[str]:
    """These tables, and all that are computed from them."""
    reached = set(tables)
    for made in ordered:
        if reached & set(made.inputs):
            reached.add(made.table)
    return {table for table in reached if layer(table) == "results"}


def test_recipes_are_the_assets_each_after_what_it_is_computed_from(ordered: list[Recipe]) -> None:
    assert sorted(made.table for made in ordered) == sorted(RESULTS)
    done: set[str] = set()
    for made in ordered:
        assert {name for name in made.inputs if layer(name) == "results"} <= done
        done.add(made.table)
    assert [made.table for made in ordered if made.by_predecessor] == ["rule_changes"]
    assert all(made.code_version for made in ordered)
    by_name = {made.table: made for made in ordered}
    assert by_name["rule_changes"].inputs == ("predicate_results", "rewards", "verifications")
    assert by_name["stage_scores"].inputs == ("stage_values",)


def test_the_parts_of_a_partition_and_of_which_rule_set_each_is(ordered: list[Recipe]) -> None:
    (made,) = (made for made in ordered if made.table == "rule_changes")
    told = [(part.label, part.values, part.needed) for part in parts(made, "2026-09-14", V2)]
    assert told[2:4] == [
        ("rewards", ("2026-09-14", "v2"), True),
        ("rewards of v1", ("2026-09-14", "v1"), False),
    ]
    assert [part.label for part in parts(made, "2026-09-14", V1)] == list(made.inputs)
    by_day = parts(next(made for made in ordered if made.table == "stage_scores"), "2026-09-14", V2)
    assert [(part.label, part.values, part.needed) for part in by_day] == [("stage_values", ("2026-09-14",), True)]


def test_what_is_complete_is_fresh(tables: Tables, ordered: list[Recipe]) -> None:
    assert stale(tables, ordered, [V1, V2], DAYS, every=False) == Plan([], 4, 0)


def test_every_one_where_it_is_forced(tables: Tables, ordered: list[Recipe]) -> None:
    plan = stale(tables, ordered, [V1, V2], DAYS, every=True)
    assert [(one.day, one.rules) for one in plan.stale] == [(LAST, "v1"), (LAST, "v2"), (FIRST, "v1"), (FIRST, "v2")]
    assert {(one.reason, one.tables) for one in plan.stale} == {(FORCED, tuple(made.table for made in ordered))}
    assert (plan.fresh, plan.without_attempts) == (0, 0)


def test_a_day_without_attempts_is_counted_and_not_computed(tables: Tables, ordered: list[Recipe]) -> None:
    later = LAST + dt.timedelta(1)
    assert stale(tables, ordered, [V1, V2], [LAST, later], every=True).without_attempts == 2
    assert stale(tables, ordered, [V1, V2], [LAST, later], every=False) == Plan([], 2, 2)
    assert stale(Tables(f"{tables.url}/nothing"), ordered, [V1], DAYS, every=False) == Plan([], 0, 2)


def test_a_day_that_was_never_scored(tables: Tables, ordered: list[Recipe]) -> None:
    later = LAST + dt.timedelta(1)
    decode(tables, [later])
    plan = stale(tables, ordered, [V1], [*DAYS, later], every=False)
    assert found(plan) == {(later, "v1"): ("not computed yet", set(RESULTS))}
    assert plan.fresh == 2


def test_a_table_of_which_nothing_is_left(tables: Tables, ordered: list[Recipe]) -> None:
    shutil.rmtree(Path(tables.root) / "rewards")
    plan = stale(tables, ordered, [V1], DAYS, every=False)
    assert found(plan) == {(day, "v1"): ("not computed yet", {"rewards"}) for day in DAYS}


def test_another_rule_set_digest(tables: Tables, ordered: list[Recipe]) -> None:
    plan = stale(tables, ordered, [V1, bumped("v2", "v1", 800)], DAYS, every=False)
    assert found(plan) == {(day, "v2"): ("the rule set changed", set(RESULTS)) for day in DAYS}
    assert plan.fresh == 2


def test_another_status_is_no_other_rule_set(tables: Tables, ordered: list[Recipe]) -> None:
    activated = parse(V1_TEXT.replace('"active"', '"retired"'), "v1.toml")
    assert stale(tables, ordered, [activated], DAYS, every=False).fresh == 2


@pytest.mark.parametrize("table", RESULTS)
def test_another_code_version(tables: Tables, ordered: list[Recipe], table: str) -> None:
    newer = [made._replace(code_version="new") if made.table == table else made for made in ordered]
    plan = stale(tables, newer, [V1], [FIRST], every=False)
    assert found(plan) == {(FIRST, "v1"): ("the code changed", below(ordered, table))}


@pytest.mark.parametrize("table", sorted(table_name(contract) for contract in LAYER))
def test_other_inputs_of_each_kind(tables: Tables, ordered: list[Recipe], table: str) -> None:
    decode(tables, [LAST], only=table, inputs="2")
    plan = stale(tables, ordered, [V2], DAYS, every=False)
    reached = below(ordered, table)
    assert found(plan) == ({(LAST, "v2"): ("the inputs changed", reached)} if reached else {})
    assert reached or table in {"quarantine", "campaign_registrations"}


def test_the_predecessor_computed_later_makes_the_comparison_stale_and_nothing_else(
    tables: Tables, ordered: list[Recipe]
) -> None:
    v3 = bumped("v3", "v2", 800)
    for contract in LAYERS["results"]:
        shutil.rmtree(tables.uri(contract))
    score(tables, ordered, v3, DAYS)
    assert stale(tables, ordered, [v3], DAYS, every=False).fresh == 2
    score(tables, ordered, V2, [FIRST])
    plan = stale(tables, ordered, [v3], DAYS, every=False)
    assert found(plan) == {(FIRST, "v3"): ("the inputs changed", {"rule_changes"})}


def test_a_predecessor_that_is_about_to_change_is_seen_in_the_same_plan(tables: Tables, ordered: list[Recipe]) -> None:
    decode(tables, [FIRST], only="answers", inputs="2")
    changed = bumped("v2", "v1", 800)
    score(tables, ordered, V1, DAYS)
    score(tables, ordered, bumped("v3", "v2"), DAYS)
    plan = stale(tables, ordered, [changed, bumped("v3", "v2")], DAYS, every=False)
    assert found(plan)[LAST, "v3"] == ("the inputs changed", {"rule_changes"})


def test_results_of_another_origin_although_written_later(tables: Tables, ordered: list[Recipe]) -> None:
    decode(tables, [FIRST], inputs="2")
    score(tables, ordered, V1, [FIRST])
    decode(tables, [FIRST], inputs="1")
    assert found(stale(tables, ordered, [V1], DAYS, every=False))[FIRST, "v1"][0] == "the inputs changed"
    score(tables, ordered, V1, [FIRST])
    assert stale(tables, ordered, [V1], DAYS, every=False).fresh == 2


def test_a_commit_of_an_older_format_is_stale_once(tables: Tables, ordered: list[Recipe]) -> None:
    """Before inputs were noted, commits said of which code and rules their rows are."""
    key: dict[str, object] = {"landed_on": FIRST, "rules": "v1"}
    older = {"code_version": "1", **notes([V1])}
    tables.replace(TABLES["predicate_results"], empty(TABLES["predicate_results"]), [key], older)
    tables.replace(Attempts, empty(Attempts), [{"landed_on": LAST}], {"code_version": CODE_VERSION})
    plan = stale(tables, ordered, [V1], DAYS, every=False)
    assert {values: reason for values, (reason, _) in found(plan).items()} == dict.fromkeys(
        [(FIRST, "v1"), (LAST, "v1")], "the inputs changed"
    )
    assert found(plan)[FIRST, "v1"][1] == {"predicate_results"}
    score(tables, ordered, V1, DAYS)
    assert stale(tables, ordered, [V1], DAYS, every=False).fresh == 2


@pytest.mark.parametrize(
    ("inputs", "undone"),
    [
        ({}, []),
        ({FIRST: "1 2026-09-14", LAST: "other"}, [LAST]),
        ({FIRST: ""}, [FIRST]),
        ({FIRST: NOTHING, LAST + dt.timedelta(1): NOTHING}, []),  # no rows are stored of either
    ],
)
def test_days_that_are_not_decoded_from_what_they_would_be(
    tables: Tables, specs: list[dg.AssetSpec], inputs: Mapping[dt.date, str], undone: list[dt.date]
) -> None:
    assert undecoded(tables, specs, {LAYER: inputs}) == {LAYER: undone}
    assert undecoded_days(tables, specs, {LAYER: inputs}) == undone


def test_a_day_of_nothing_that_has_rows(tables: Tables, specs: list[dg.AssetSpec]) -> None:
    rows = frame(Attempts, attempt("worldseq:a", LAST))
    tables.replace(Attempts, rows, [{"landed_on": LAST}], {"code_version": CODE_VERSION})
    assert undecoded(tables, specs, {PARTS: dict.fromkeys(DAYS, NOTHING)}) == {PARTS: [LAST]}


def test_tables_that_are_written_apart_are_due_apart(tables: Tables, specs: list[dg.AssetSpec]) -> None:
    now = {day: f"1 {day}" for day in DAYS}
    inputs = {PARTS: now, (Quarantine,): {**now, FIRST: "other"}, (CampaignRegistrations,): {**now, LAST: "other"}}
    assert undecoded(tables, specs, inputs) == {PARTS: [], (Quarantine,): [FIRST], (CampaignRegistrations,): [LAST]}
    assert undecoded_days(tables, specs, inputs) == DAYS


@pytest.mark.parametrize("change", [{"code_version": "0"}, {"code_version": ""}])
def test_a_day_of_which_one_table_is_of_another_code(
    tables: Tables, specs: list[dg.AssetSpec], change: dict[str, Any]
) -> None:
    current = {LAYER: {day: f"1 {day}" for day in DAYS}}
    assert undecoded_days(tables, specs, current) == []
    note(tables, "quarantine", [{"landed_on": LAST}], [current[LAYER][LAST]], **change)
    assert undecoded_days(tables, specs, current) == [LAST]


def test_a_table_of_the_layer_that_is_not_there(tables: Tables, specs: list[dg.AssetSpec]) -> None:
    shutil.rmtree(tables.uri(TABLES["branches"]))
    assert undecoded_days(tables, specs, {LAYER: {day: f"1 {day}" for day in DAYS}}) == DAYS
