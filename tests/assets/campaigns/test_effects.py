"""`campaign_effects`: equal weights within each parent, at every node."""

import math
from collections.abc import Mapping

import polars as pl
import pytest

from assets.campaigns.contract import CASE, LEVELS, CampaignEffects
from assets.campaigns.effects import effects, mean
from assets.contract import conform
from tests.assets.campaigns.effect_layer import pairs, registration, unbalanced
from tests.reference import campaigns as reference
from tests.reference.campaigns import Case

EXAMPLE: dict[Case, float] = {
    ("a", "acme", "t", "s", 1): 1.0,
    ("a", "acme", "t", "s", 2): 1.0,
    ("a", "acme", "t", "s", 3): 1.0,
    ("a", "acme", "t", "s", 4): 1.0,
    ("b", "bolt", "t", "s", 1): 0.0,
}


def found(given: Mapping[Case, float | None]) -> pl.DataFrame:
    return conform(CampaignEffects, effects(pairs(registration(given), given)))


def by_key(table: pl.DataFrame) -> dict[tuple[object, ...], tuple[float, int]]:
    rows = table.select(*CASE[:4], "effect", "pairs").rows()
    return {tuple(name for name in key if name is not None): (effect, size) for *key, effect, size in rows}


def test_equal_weights_not_the_mean_over_episodes() -> None:
    table = found(EXAMPLE)
    assert table.filter(level="campaign").select("effect", "pairs").row(0) == (0.5, 5)
    assert table.filter(level="family").select("family_id", "effect", "pairs").rows() == [("a", 1.0, 4), ("b", 0.0, 1)]


def test_the_same_company_in_two_families_is_two_companies() -> None:
    table = found({("a", "acme", "t", "s", 1): 1.0, ("b", "acme", "t", "s", 1): 0.0, ("b", "bolt", "t", "s", 1): 0.0})
    companies = table.filter(level="company").select("family_id", "company_id", "effect").rows()
    assert companies == [("a", "acme", 1.0), ("b", "acme", 0.0), ("b", "bolt", 0.0)]
    assert table["effect"][0] == 0.5


@pytest.mark.parametrize("seed", range(25))
def test_every_node_of_random_hierarchies(seed: int) -> None:
    given = unbalanced(seed)
    told = by_key(found(given))
    expected = {key: (effect, size) for key, effect, size in reference.nodes(reference.tree(given))}
    assert told.keys() == expected.keys()
    for key, (effect, size) in expected.items():
        assert told[key][0] == pytest.approx(effect, abs=1e-12)
        assert told[key][1] == size


def test_nodes_stand_by_level_in_key_order_whatever_the_order_of_the_pairs() -> None:
    given = unbalanced(3)
    table = found(given)
    assert table.equals(found(dict(sorted(given.items()))))
    ranked = table.with_columns(rank=pl.col("level").replace_strict({name: n for n, name in enumerate(LEVELS)}))
    assert ranked.equals(ranked.sort("rank", *CASE[:4]))


def test_one_pair_without_a_number_leaves_no_figure_at_any_node() -> None:
    table = found(EXAMPLE | {("b", "bolt", "t", "s", 1): None})
    assert table["effect"].null_count() == table.height
    assert table.filter(level="campaign")["pairs"].item() == 5


def test_sums_are_exact_before_they_are_rounded() -> None:
    tenths = {("f", "c", "t", "s", repeat): 0.1 for repeat in range(1, 11)}
    assert found(tenths)["effect"].to_list() == [0.1] * 5
    cancelling = dict(zip([("f", "c", "t", "s", n) for n in (1, 2, 3)], (1e100, 3.0, -1e100), strict=True))
    assert found(cancelling)["effect"][0] == 1.0


def test_sums_beyond_the_doubles_have_a_mean() -> None:
    assert mean([1.7e308, 1.7e308, 1.7e308]) == pytest.approx(1.7e308, rel=1e-15)
    assert mean([1.7e308, -1.7e308]) == 0
    assert math.isfinite(mean([1.7976931348623157e308] * 7))
