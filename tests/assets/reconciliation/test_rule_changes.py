"""Which attempts a rule set changes, in what, and by which predicate: worked, at random, and end to end."""

import datetime as dt
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_series_equal

from assets.reconciliation.rule_changes import Outcomes, rule_changes
from assets.rewards.contract import REWARD_KINDS
from assets.rulesets.loader import RuleSet, load_all, parse
from assets.vocabulary import CLASSES, PREDICATE_OUTCOMES
from tests.assets.reconciliation.changed_results import (
    DAY,
    UTILITY,
    V2_TEXT,
    changed,
    judged,
    outcomes,
    paid,
    verdict,
)
from tests.assets.verification import layer
from tests.assets.worldseq_layer import decoded
from tests.reference.generate import attempts
from tests.reference.model import Expected, Rules
from tests.reference.rule_changes import Side, changes
from tests.reference.worldseq import expected


def only(before: Side, after: Side) -> dict[str, Any]:
    [row] = changed(before, after).to_dicts()
    return row


def test_a_predicate_that_fails_anew() -> None:
    row = only(
        Side([verdict("eligible", 5.0)], [paid(1.5)], [judged("floor", "pass"), judged("end", "fail", 1)]),
        Side(
            [verdict("ineligible", 5.0, reason="predicates_failed")],
            [paid(0.0)],
            [judged("floor", "fail"), judged("end", "fail", 1)],
        ),
    )
    assert row == {
        "attempt_id": "a",
        "rules": "v2",
        "landed_on": DAY,
        "predecessor": "v1",
        "changed": ["class", "reward"],
        "class_before": "eligible",
        "class_after": "ineligible",
        "reason_before": None,
        "reason_after": "predicates_failed",
        "primary_value_before": 5.0,
        "primary_value_after": 5.0,
        "reward_kind_before": UTILITY,
        "reward_kind_after": UTILITY,
        "reward_before": 1.5,
        "reward_after": 0.0,
        "predicates": ["floor"],
        "predicate_kinds": ["cash_floor"],
    }


def test_a_scale_changes_the_reward_by_no_predicate() -> None:
    failing = [judged("floor", "pass")]
    row = only(
        Side([verdict("eligible", 5.0)], [paid(1.5)], failing), Side([verdict("eligible", 5.0)], [paid(1.4)], failing)
    )
    assert (row["changed"], row["predicates"], row["predicate_kinds"]) == (["reward"], [], [])


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ((None, None), (None, None), None),
        ((0.0, 0.0), (-0.0, -0.0), None),
        ((None, 1.0), (0.0, 1.0), ["primary_value"]),
        ((0.0, 1.0), (None, 1.0), ["primary_value"]),
        ((1.0, None), (1.0, 0.0), ["reward"]),
        ((1.0, 0.0), (1.0, None), ["reward"]),
        ((1.0, 1.0), (1.0 + 2**-52, 1.0 - 2**-53), ["primary_value", "reward"]),
    ],
)
def test_null_is_not_zero_and_the_sign_of_zero_is_nothing(before: Any, after: Any, names: list[str] | None) -> None:
    found = changed(*(Side([verdict("eligible", value)], [paid(reward)]) for value, reward in (before, after)))
    assert found["changed"].to_list() == ([] if names is None else [names])


@pytest.mark.parametrize("gone", [True, False])
def test_an_attempt_with_results_under_one_rule_set_only(gone: bool) -> None:
    full = Side([verdict("inconclusive", reason="not_finalized")], [paid(None)], [judged("floor", "fail")])
    row = only(*((full, Side()) if gone else (Side(), full)))
    there, absent = ("before", "after") if gone else ("after", "before")
    assert row["changed"] == ["class", "reward"]
    assert (row[f"class_{there}"], row[f"reward_kind_{there}"]) == ("inconclusive", UTILITY)
    assert [row[f"{name}_{absent}"] for name in ("class", "reason", "primary_value", "reward_kind", "reward")] == [
        None
    ] * 5
    assert row["predicates"] == ["floor"]


def test_a_predicate_that_no_longer_applies_weighs_as_one_that_passes() -> None:
    budget = {"kind": "token_budget", "position": 0}
    gone = Side([verdict("eligible")], [paid(1.0)], [judged("floor", "pass", 0)])
    passing = [judged("token_budget", "pass", **budget), judged("floor", "pass", 1)]
    failing = [judged("token_budget", "fail", **budget), judged("floor", "pass", 1)]
    assert only(Side([verdict("eligible")], [paid(1.5)], passing), gone)["predicates"] == []
    assert only(Side([verdict("ineligible")], [paid(0.0)], failing), gone)["predicates"] == ["token_budget"]


def test_predicates_stand_by_position_and_each_once() -> None:
    before = [judged("b", "pass", 0), judged("a", "inconclusive", 1), judged("a", "fail", 2, "cash_bounds")]
    after = [judged("b", "fail", 0), judged("a", "fail", 1), judged("a", "pass", 2, "cash_bounds")]
    row = only(Side([verdict("eligible")], (), before), Side([verdict("ineligible")], (), after))
    assert row["predicates"] == ["b", "a", "a"]
    assert row["predicate_kinds"] == ["cash_floor", "cash_floor", "cash_bounds"]


def test_predicates_of_one_id_are_compared_together() -> None:
    swapped = [[judged("p", "fail", 0), judged("p", "pass", 1)], [judged("p", "pass", 0), judged("p", "fail", 1)]]
    more = [judged("p", "fail", 0), judged("p", "fail", 1)]
    assert (
        only(Side([verdict("eligible")], (), swapped[0]), Side([verdict("ineligible")], (), swapped[1]))["predicates"]
        == []
    )
    assert only(Side([verdict("eligible")], (), swapped[0]), Side([verdict("ineligible")], (), more))["predicates"] == [
        "p"
    ]


def test_of_several_rewards_the_first_that_differs_is_told() -> None:
    recorded, staged = "agentforge-recorded", "agentforge-staged/1"
    before = Side([verdict("eligible")], [paid(1.0, recorded), paid(0.5, staged)])
    row = only(before, Side([verdict("eligible")], [paid(1.0, recorded), paid(0.7, staged)]))
    assert (row["reward_kind_before"], row["reward_before"], row["reward_after"]) == (staged, 0.5, 0.7)
    row = only(before, Side([verdict("ineligible")], [paid(1.0, recorded), paid(0.5, staged)]))
    assert (row["changed"], row["reward_kind_after"], row["reward_after"]) == (["class"], recorded, 1.0)
    row = only(Side([verdict("eligible")], [paid(1.0, recorded)]), Side([verdict("eligible")], [paid(1.0, staged)]))
    assert (row["changed"], row["reward_kind_before"], row["reward_kind_after"]) == (["reward"], recorded, staged)


def test_the_same_attempt_on_two_days_is_compared_day_by_day() -> None:
    later = DAY + dt.timedelta(days=1)
    before = Side([verdict("eligible"), verdict("ineligible", landed_on=later)])
    after = Side([verdict("ineligible"), verdict("ineligible", landed_on=later)])
    assert changed(before, after)["landed_on"].to_list() == [DAY]


def test_a_bump_that_changes_nothing_is_an_empty_table() -> None:
    same = Side([verdict("eligible", 1.0)], [paid(1.5)], [judged("floor", "pass")])
    assert changed(same, same).is_empty()


def test_a_rule_set_without_a_predecessor_changes_nothing() -> None:
    found = rule_changes(outcomes(Side()), outcomes(Side([verdict("eligible")])), load_all()["v1"])
    assert found.collect().is_empty()


NUMBERS = st.sampled_from([None, 0.0, -0.0, 1.0, 1.5])
KEYS = st.tuples(st.sampled_from([DAY, DAY + dt.timedelta(days=1)]), st.sampled_from("abc"))


@st.composite
def results(draw: st.DrawFn) -> Side:
    """Results of a few attempts; what they have in common with others' is likely to be the same."""
    side = Side([], [], [])
    for landed_on, attempt_id in draw(st.sets(KEYS)):
        key = {"landed_on": landed_on, "attempt_id": attempt_id}
        class_ = draw(st.sampled_from(CLASSES[:2]))
        side.verifications.append(
            {**key, "class": class_, "reason": draw(st.none() | st.just("r")), "primary_value": draw(NUMBERS)}
        )
        kinds = draw(st.sets(st.sampled_from(REWARD_KINDS[:3])))
        side.rewards.extend({**key, "reward_kind": kind, "reward": draw(NUMBERS)} for kind in sorted(kinds))
        predicates = draw(st.lists(st.tuples(*map(st.sampled_from, ("kl", "pq", PREDICATE_OUTCOMES))), max_size=4))
        side.predicate_results.extend(
            {**key, "kind": kind, "predicate_id": id_, "outcome": outcome, "position": position}
            for position, (kind, id_, outcome) in enumerate(predicates)
        )
    return side


@given(results(), results())
@settings(max_examples=150, deadline=None)
def test_it_is_what_plain_python_finds(before: Side, after: Side) -> None:
    found = changed(before, after).drop("rules", "predecessor").to_dicts()
    assert found == [
        {name: change[name] for name in row} for row, change in zip(found, changes(before, after), strict=True)
    ]


COUNT, SEED, CALLS, SCALE = 1_500, 11, 700, 40.0
V2_STRICTER = parse(
    V2_TEXT.replace("player_calls = 1024", f"player_calls = {CALLS}").replace(
        '"accounts"\nscale = 100.0', f'"accounts"\nscale = {SCALE}', 1
    ),
    "v2.toml",
)


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return list(attempts(SEED, COUNT))


def of_kernels(documents: list[dict[str, Any]], rules: RuleSet) -> Outcomes:
    tables = decoded(documents)
    made = (layer.verdicts, layer.rewarded, layer.predicates)
    return Outcomes(*(table(tables, rules).lazy() for table in made))


def of_reference(documents: list[dict[str, Any]], rules: Rules) -> Side:
    side = Side([], [], [])
    for document in documents:
        found = expected(document, rules)
        key = {"landed_on": layer.DAY, "attempt_id": f"worldseq:{document['attempt']['attemptId']}"}
        _append(side, key, found)
    return side


def _append(side: Any, key: dict[str, Any], found: Expected) -> None:
    side.verifications.append(
        {**key, "class": found.class_, "reason": found.reason, "primary_value": found.primary_value}
    )
    side.rewards.append({**key, "reward_kind": UTILITY, "reward": found.reward.reward})
    side.predicate_results.extend(
        {**key, "kind": one.kind, "predicate_id": one.predicate_id, "outcome": one.outcome, "position": position}
        for position, one in enumerate(found.predicates)
    )


def test_a_stricter_rule_set_changes_what_two_plain_readings_of_the_rules_say(documents: list[dict[str, Any]]) -> None:
    first, stricter = Rules(), Rules(player_calls=CALLS, scales={**Rules().scales, "active_paying_accounts": SCALE})
    wanted = changes(of_reference(documents, first), of_reference(documents, stricter))
    before, after = (of_kernels(documents, rules) for rules in (layer.V1, V2_STRICTER))
    found = rule_changes(before, after, V2_STRICTER).collect(engine="streaming")
    names = ("attempt_id", "landed_on", "changed", "class_before", "class_after", "predicates", "predicate_kinds")
    assert found.select(names).to_dicts() == [{name: change[name] for name in names} for change in wanted]
    for name in ("reward_before", "reward_after", "primary_value_before", "primary_value_after"):
        assert_series_equal(found[name], pl.Series(name, [change[name] for change in wanted]), rel_tol=1e-12)
    assert found["changed"].list.contains("class").sum() > 20
    assert found.filter(pl.col("predicates").list.len() == 0)["changed"].to_list().count(["reward"]) > 10
    assert all(one < other for one, other in pairwise(found["attempt_id"]))
