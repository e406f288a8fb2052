"""Where the marks of a report's pictures stand."""

import sys
from itertools import pairwise

import polars as pl
import pytest

from assets.campaigns import charts
from assets.vocabulary import CLASSES
from tests.assets.campaigns import reported

LARGEST = sys.float_info.max


def percent(place: str) -> float:
    return float(place.removesuffix("%"))


def test_a_scale_is_linear_and_ends_at_its_ends() -> None:
    scale = charts.Scale(-1.0, 3.0)
    assert [scale.at(value) for value in (-1.0, 0.0, 1.0, 3.0)] == ["0.00%", "25.00%", "50.00%", "100.00%"]
    assert (scale.at(-9.0), scale.at(9.0)) == ("0.00%", "100.00%")
    assert scale.between(0.0, 1.0) == ("25.00%", "25.00%", "50.00%")


@pytest.mark.parametrize(
    "values", [[], [None], [0.0], [0.2], [-0.2, None], [1e-300], [5e-324], [LARGEST, -LARGEST], [-1.0, LARGEST]]
)
def test_every_scale_shows_zero_and_all_values(values: list[float | None]) -> None:
    scale = charts.scale(values)
    places = [percent(scale.at(value)) for value in (0.0, *values) if value is not None]
    assert all(0 <= place <= 100 for place in places)
    ticks = scale.ticks(4)
    assert "0" in {tick.label.rstrip("0").rstrip(".") or "0" for tick in ticks}
    assert 1 <= len(ticks) <= 10


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (-0.06, 0.44, ["0.0", "+0.2", "+0.4"]),
        (-55_000, 140_000, ["−50k", "0", "+50k", "+100k"]),
        (-3.5e6, 2.5e6, ["−2M", "0", "+2M"]),
        (-1e-7, 3e-7, ["−1e−07", "0.0000", "+1e−07", "+2e−07", "+3e−07"]),
    ],
)
def test_ticks_are_round(low: float, high: float, labels: list[str]) -> None:
    assert [tick.label for tick in charts.Scale(low, high).ticks(4)] == labels


@pytest.mark.parametrize(
    ("expectation", "claim"),
    [("improvement", (0.05, None)), ("no_regression", (-0.05, None)), ("equivalence", (-0.05, 0.05))],
)
def test_the_band_and_the_claim_stand_where_the_verdict_is_decided(
    expectation: str, claim: tuple[float, float | None]
) -> None:
    scale = charts.scale([-0.2, 0.4])
    axis = charts.axis(scale, {"expectation": expectation, "tolerance": 0.05})
    assert axis.band == scale.between(-0.05, 0.05)
    assert axis.claim.x == scale.at(claim[0])
    assert axis.claim.end == (scale.at(claim[1]) if claim[1] else "100.00%")


def test_the_interval_stands_around_its_effect_and_its_label_has_room() -> None:
    row = reported.conclusive().compared.comparison.row(0, named=True)
    picture = charts.interval(row)
    for ends in (picture.bootstrap, picture.t):
        assert ends is not None
        assert percent(ends.strip.line.x) < percent(ends.strip.point) < percent(ends.strip.line.end)
        assert ends.label == (ends.strip.line.end, "end")
    assert charts.interval(row | {"t_low": None, "t_high": None}).t is None


def test_the_forest_has_every_family_and_company_with_weights_that_add_up() -> None:
    compared = reported.conclusive().compared
    forest = charts.forest(compared.effects, compared.comparison.row(0, named=True), 60)
    names = [(node.level, node.name) for node in forest.nodes]
    companies = [("company", name) for name in ("acme", "bolt", "cargo")]
    families = ("hiring", "pricing", "recovery")
    assert names == [row for family in families for row in (("family", family), *companies)] + [
        ("campaign", "All families")
    ]
    for level in ("family", "company"):
        assert sum(node.weight for node in forest.nodes if node.level == level) == pytest.approx(1)
    family, *below = forest.nodes[:4]
    assert (family.low, family.high) == (min(node.effect for node in below), max(node.effect for node in below))
    assert len(family.strip.marks) == len({node.effect for node in below})


def test_of_many_companies_the_largest_effects_are_shown() -> None:
    compared = reported.conclusive().compared
    forest = charts.forest(compared.effects, compared.comparison.row(0, named=True), 2)
    shown = [abs(node.effect) for node in forest.nodes if node.level == "company"]
    effects = compared.effects.filter(pl.col("level") == "company")["effect"].abs().sort(descending=True)
    assert sorted(shown, reverse=True) == effects.head(2).to_list()
    assert (forest.shown, forest.companies) == (2, 9)
    assert sum(node.level == "family" for node in forest.nodes) == 3


def test_each_step_of_the_waterfall_begins_where_the_one_before_ends() -> None:
    counts = dict(zip(CLASSES, (1, 2, 0, 3, 4, 10), strict=True))
    about = dict.fromkeys(["registered", *CLASSES], "")

    steps = charts.waterfall([counts, dict.fromkeys(CLASSES, 0) | {"missing": 20}], about)

    assert [step.name for step in steps] == ["registered", *CLASSES]
    assert [[arm.number for arm in step.arms] for step in steps] == [
        [20, 20], [1, 20], [2, 0], [0, 0], [3, 0], [4, 0], [10, 0]
    ]  # fmt: skip
    for arm in range(2):
        edges = [step.arms[arm].bar for step in steps]
        assert all(before.x == after.end for before, after in pairwise(edges[1:-1]))
        assert edges[0].end == edges[1].end == "100.00%"
        assert edges[-1].end == edges[-2].x


def test_parts_of_one_bar_are_adjacent() -> None:
    parts = charts.shares([1, 0, 3])
    assert [(part.x, part.end) for part in parts] == [("0.00%", "25.00%"), ("25.00%", "25.00%"), ("25.00%", "100.00%")]
    assert [part.width for part in charts.shares([0, 0])] == ["0.00%", "0.00%"]
