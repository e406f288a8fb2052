"""`campaign_comparisons`: a campaign from its pairs to its verdict, and that it is always the same."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from assets.campaigns.comparison import comparison, input_digest
from assets.vocabulary import CLASSES
from tests.assets.campaigns import campaign_layer
from tests.assets.campaigns.campaign_layer import attempt, campaign, case
from tests.assets.campaigns.effect_layer import QUICK, SIX, V1, Effects, compare, row, rules, unbalanced
from tests.assets.campaigns.test_effects import EXAMPLE
from tests.reference import campaigns as reference

FIGURES = ("effect", "ci_low", "ci_high", "t_low", "t_high", "std_error", "mde", "wins", "ties", "losses", "resamples")
VARIED = dict(zip(SIX, (0.2, 0.4, 0.3, 0.1, 0.5, 0.3), strict=True))


def alike(value: float) -> Effects:
    return dict.fromkeys(SIX, value)


def test_the_worked_example() -> None:
    found = row(EXAMPLE)
    assert found["effect"] == 0.5
    assert (found["wins"], found["ties"], found["losses"]) == (4, 1, 0)
    assert [found[name] for name in ("families", "companies", "tasks", "scenarios", "pairs")] == [2, 2, 2, 2, 5]
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["too_few_companies", "degenerate_interval"])


def test_a_conclusive_campaign() -> None:
    found = row(VARIED, tolerance=0.05)
    assert (found["verdict"], found["reasons"]) == ("pass", [])
    assert found["effect"] == pytest.approx(0.3)
    assert 0.05 < found["ci_low"] < found["effect"] < found["ci_high"]
    assert found["t_low"] < found["ci_low"]
    assert (found["resamples"], found["numeric_pairs"], found["confidence"]) == (400, 6, 0.95)
    assert found["numpy_version"] == np.__version__
    assert (found["rules"], found["rules_digest"]) == ("v1", QUICK.digest)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("expectation", ["improvement", "no_regression", "equivalence"])
def test_random_campaigns_against_the_reference(seed: int, expectation: str) -> None:
    effects = unbalanced(seed)
    found = row(effects, expectation=expectation, tolerance=0.2)
    root = reference.tree(effects)
    assert found["effect"] == pytest.approx(reference.effect(root), abs=1e-12)
    interval = (found["ci_low"], found["ci_high"])
    expected = reference.verdict(expectation, 0.2, effects, interval, found["std_error"])
    assert (found["verdict"], found["reasons"]) == expected
    assert found["wins"] == sum(value > 0.2 for value in effects.values())
    assert found["wins"] + found["ties"] + found["losses"] == found["pairs"] == len(effects)
    counts = [len({case[:depth] for case in effects}) for depth in range(1, 5)]
    assert [found[name] for name in ("families", "companies", "tasks", "scenarios")] == counts


def test_one_case_without_a_value_leaves_no_figure_and_every_count() -> None:
    lacking = VARIED | {next(iter(VARIED)): None}
    compared = compare(lacking)
    found = compared.comparison.row(0, named=True)
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["incomplete_inventory"])
    assert [found[name] for name in FIGURES] == [None] * len(FIGURES)
    assert (found["pairs"], found["numeric_pairs"], found["companies"]) == (6, 5, 6)
    assert found["baseline_classes"] == dict.fromkeys(CLASSES, 0) | {"eligible": 6}
    assert found["treatment_classes"] == dict.fromkeys(CLASSES, 0) | {"eligible": 5, "missing": 1}
    assert compared.pairs["effect"].null_count() == 1
    assert compared.effects["effect"].null_count() == compared.effects.height


def test_a_refused_comparison_has_no_figure() -> None:
    compared = compare(VARIED, refusals=["contract_mismatch", "mixed_units"])
    found = compared.comparison.row(0, named=True)
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["mixed_units", "contract_mismatch"])
    assert [found[name] for name in FIGURES] == [None] * len(FIGURES)
    assert found["numeric_pairs"] == 6
    assert compared.effects["effect"].null_count() == compared.effects.height
    assert compared.pairs["effect"].null_count() == compared.pairs["result"].null_count() == 6
    assert not compared.pairs["treatment_value"].null_count()


def test_every_reason_of_a_comparison_without_figures() -> None:
    found = row(EXAMPLE | {next(iter(EXAMPLE)): None}, refusals=["mixed_units"])
    assert found["reasons"] == ["mixed_units", "incomplete_inventory", "too_few_companies"]


def test_identical_arms_without_tolerance() -> None:
    same = alike(0.0)
    found = row(same, expectation="no_regression")
    assert (found["verdict"], found["reasons"]) == ("pass", ["degenerate_interval"])
    assert (found["wins"], found["ties"], found["losses"]) == (0, 6, 0)
    assert [found[name] for name in FIGURES[:7]] == [0.0] * 7
    assert row(same, expectation="improvement")["verdict"] == "fail"
    assert row(same, expectation="equivalence", tolerance=0.1)["verdict"] == "pass"


@pytest.mark.parametrize(("value", "verdict"), [(0.1, "pass"), (0.05, "fail"), (-0.1, "fail")])
def test_all_effects_equal(value: float, verdict: str) -> None:
    found = row(alike(value), tolerance=0.05)
    assert (found["verdict"], found["reasons"]) == (verdict, ["degenerate_interval"])
    assert found["t_low"] == found["t_high"] == found["effect"] == pytest.approx(value, abs=1e-15)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((value, value), abs=1e-15)


def test_companies_that_do_not_vary_conclude_nothing_where_families_do() -> None:
    apart = {case: 1.0 if case[0] == "a" else 3.0 for case in SIX}
    found = row(apart)
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["degenerate_interval"])
    assert found["effect"] == found["ci_low"] == found["ci_high"] == 2.0


def test_a_single_family() -> None:
    one = {("f", f"c{number}", "t", "s", 1): value for number, value in enumerate((0.2, 0.4, 0.3, 0.1, 0.5, 0.3))}
    found = row(one)
    assert (found["verdict"], found["families"], found["companies"]) == ("pass", 1, 6)
    assert found["t_low"] is not None


def test_a_single_company_has_no_t_interval() -> None:
    one = {("f", "c", f"t{number}", "s", 1): value for number, value in enumerate((0.2, 0.4, 0.3, 0.1, 0.5, 0.3))}
    found = row(one)
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["too_few_companies"])
    assert (found["t_low"], found["t_high"]) == (None, None)
    assert found["ci_low"] < found["ci_high"]


def test_a_single_case() -> None:
    found = row({("f", "c", "t", "s", 1): 1.0})
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["too_few_companies", "degenerate_interval"])
    assert found["effect"] == found["ci_low"] == found["ci_high"] == 1.0


def test_intervals_that_disagree() -> None:
    # One company in three is worse: half of a family's resamples hardly draw it, the t interval is far wider.
    effects = dict(zip(SIX, (0.9, 0.9, -0.4, 0.9, 0.9, 0.2), strict=True))
    found = row(effects)
    assert found["t_low"] < 0 < found["ci_low"]
    assert (found["verdict"], found["reasons"]) == ("inconclusive", ["intervals_disagree"])
    assert row(effects, rules(resamples=400, require_t_interval=False))["verdict"] == "pass"


@pytest.mark.parametrize(("sign", "beyond", "verdict"), [(1, "t_high", "pass"), (-1, "t_low", "fail")])
def test_an_end_beyond_the_doubles_is_null_and_lies_there_all_the_same(sign: int, beyond: str, verdict: str) -> None:
    found = row(dict(zip(SIX, (sign * 1.7e308, sign * 0.1e308, sign * 1.7e308) * 2, strict=True)))
    assert (found[beyond], found["verdict"], found["reasons"]) == (None, verdict, [])


def test_attempts_count_in_one_class_each_and_unregistered_ones_apart() -> None:
    """A case without artifact, a failure of the machinery, an ineligible one without primary value, a duplicate."""
    cases = [case("f", company, "t", "s", repeat) for company in "abcdef" for repeat in (1, 2)]
    document = campaign(*cases, metric="primaryValue")
    attempts = [attempt(f"b{number}", "baseline", of) for number, of in enumerate(cases)]
    attempts += [
        attempt("t1", "treatment", cases[1], "infrastructure_failure"),
        attempt("t2", "treatment", cases[2], "ineligible"),
        attempt("t3", "treatment", cases[3]),
        attempt("t3-again", "treatment", cases[3]),
        *(attempt(f"t{number}", "treatment", of) for number, of in enumerate(cases) if number > 3),
        attempt("outside", "treatment", case("f", "z", "t", "s", 1)),
        attempt("elsewhere", "third", cases[0]),
    ]
    of, found = campaign_layer.registration(document), campaign_layer.paired(document, *attempts)
    told = comparison(of, found, V1).comparison.row(0, named=True)
    assert (told["verdict"], told["reasons"]) == ("inconclusive", ["incomplete_inventory"])
    assert [told[name] for name in FIGURES] == [None] * len(FIGURES)
    assert (told["pairs"], told["numeric_pairs"], told["unregistered"]) == (12, 8, 2)
    assert told["baseline_classes"] == dict.fromkeys(CLASSES, 0) | {"eligible": 12}
    assert told["treatment_classes"] == {
        "missing": 1,
        "infrastructure_failure": 1,
        "agent_failure": 0,
        "inconclusive": 1,
        "ineligible": 1,
        "eligible": 8,
    }


def test_the_digest_is_of_every_column_of_every_pair() -> None:
    pairs = compare(VARIED).pairs
    told = input_digest(pairs)
    assert input_digest(pairs.reverse()) == told
    for name in pairs.columns:
        value = {pl.String: "other", pl.Int64: 99, pl.Float64: 0.125}[pairs.schema[name].base_type()]
        changed = pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(value)).otherwise(name).alias(name)
        assert input_digest(pairs.with_columns(changed)) != told
        absent = pl.when(pl.int_range(pl.len()) < 5).then(name).alias(name)
        assert input_digest(pairs.with_columns(absent)) != told or pairs[name][5] is None


def test_other_inputs_have_another_digest_and_the_same_seed() -> None:
    one, other = row(VARIED), row(VARIED | {next(iter(VARIED)): None})
    assert one["input_digest"] != other["input_digest"]
    assert one["seed"] == other["seed"] != row(VARIED, metric="reward")["seed"]
    assert one["algorithm"] == other["algorithm"]


PROGRAM = """
import random, sys
import polars as pl
from tests.assets.campaigns import campaign_layer
from tests.assets.campaigns.campaign_layer import attempt, campaign, case
from tests.assets.campaigns.effect_layer import V1, compare, unbalanced
effects = list(unbalanced(7, families=6, most=6).items())
random.Random(sys.argv[1]).shuffle(effects)
assert pl.thread_pool_size() == int(sys.argv[2])
for frame in compare(dict(effects), V1):
    print(frame.write_json())
"""


def test_the_same_bytes_with_any_number_of_threads_and_in_any_order() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, order, threads],
            check=True,
            capture_output=True,
            env=os.environ | {"POLARS_MAX_THREADS": threads},
        ).stdout
        for order, threads in (("one", "1"), ("other", "2"))
    }
    assert len(told) == 1
    (text,) = told
    assert json.loads(text.splitlines()[2])[0]["effect"] is not None
