"""Both sides of every registered case: classes, values, effects, what is in no pair, and what refuses a comparison."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from polars.testing import assert_frame_equal

from assets.attempts.contract import Attempts
from assets.campaigns.contract import CASE
from assets.campaigns.pairs import pairs
from assets.contract import schema
from assets.vocabulary import CLASSES
from tests.assets.campaigns.campaign_layer import V1, attempt, campaign, case, frames, paired, registration, rows
from tests.assets.sources.worldseq_documents import FULL, changed
from tests.assets.test_agreement import decoded
from tests.assets.verification import layer
from tests.reference.campaign_pairs import FIELDS, Comparison, Side, Tables, compare

BASELINE, TREATMENT = "baseline", "treatment"
SIDE = ("class", "attempt_id", "value", "reason")


def sides(document: dict[str, Any], *attempts: Any) -> list[tuple[Any, ...]]:
    """Class, attempt, value and reason of both sides, effect and result of the only pair."""
    columns = [f"{side}_{name}" for side in (BASELINE, TREATMENT) for name in SIDE]
    (row,) = paired(document, *attempts).pairs.select(*columns, "effect", "result").rows()
    return [row[:4], row[4:8], row[8:]]


def test_a_pair() -> None:
    row = paired(campaign(), attempt("b", BASELINE, class_="ineligible"), attempt("t", TREATMENT)).pairs.row(
        0, named=True
    )
    of_campaign = {"campaign_id": "cmp-pricing", "campaign_key": registration(campaign()).campaign_key, "rules": "v1"}
    of_case = {"family_id": "f", "company_id": "c", "task_id": "t", "scenario_id": "s", "repeat": 1}
    baseline = {"attempt_id": "b", "class": "ineligible", "value": 0.0, "reason": None}
    treatment = {"attempt_id": "t", "class": "eligible", "value": 1.0, "reason": None}
    assert row == {
        **of_campaign,
        **of_case,
        "metric": "objectiveSuccess",
        **{f"baseline_{name}": value for name, value in baseline.items()},
        **{f"treatment_{name}": value for name, value in treatment.items()},
        "effect": 1.0,
        "result": "win",
    }


FAILED = {"infrastructure_failure": "timeout", "agent_failure": "agent_failure", "inconclusive": "not_finalized"}


@pytest.mark.parametrize(
    ("class_", "success", "other"),
    [("eligible", 1.0, 7.0), ("ineligible", 0.0, None), *((class_, None, None) for class_ in FAILED)],
)
@pytest.mark.parametrize("metric", ["objectiveSuccess", "primaryValue", "reward", "closing:cashCents", "score:q"])
def test_the_class_decides_whether_a_side_has_a_value(
    metric: str, class_: str, success: float | None, other: float | None
) -> None:
    value, reason = success if metric == "objectiveSuccess" else other, FAILED.get(class_, "predicates_failed")
    one = attempt(
        "b",
        BASELINE,
        class_=class_,
        reason=reason,
        primary=("net_cash", 7.0),
        reward=7.0,
        score=("groupBrier", 7.0, 8.0),
        days=[{"day": 0, "cash_cents": 7}],
    )
    (found, missing, nothing) = sides(campaign(metric=metric), one)
    assert found == (class_, "b", value, reason if value is None else None)
    assert missing == ("missing", None, None, "no_artifact")
    assert nothing == (None, None)


@pytest.mark.parametrize("metric", ["primaryValue", "reward", "closing:cashCents", "closing:netAssetsCents", "score:q"])
@pytest.mark.parametrize(
    ("score", "days"), [(None, []), (("groupBrier", None, None), [{"day": 0, "cash_cents": 5}, {"day": 1}])]
)
def test_an_eligible_attempt_without_the_number_has_no_value(metric: str, score: Any, days: Any) -> None:
    one = attempt("b", BASELINE, primary=("net_cash", None), score=score, days=days)
    assert sides(campaign(metric=metric), one)[0] == ("eligible", "b", None, "no_value")


def test_the_closing_value_is_that_of_the_last_day_present() -> None:
    days = [{"day": 7, "cash_cents": -3, "shortfall_units": 0.5}, {"day": 0, "cash_cents": 9}, {"day": 2}]
    one = attempt("b", BASELINE, days=days)
    assert sides(campaign(metric="closing:cashCents"), one)[0][2] == -3.0
    assert sides(campaign(metric="closing:shortfallUnits"), one)[0][2] == 0.5


@pytest.mark.parametrize(("direction", "values"), [("higher_is_better", (-4.0, -1.0)), ("lower_is_better", (4.0, 1.0))])
def test_a_question_counts_by_its_score_or_by_its_error(direction: str, values: tuple[float, float]) -> None:
    kind = "normalizedSquaredError"
    found = sides(
        campaign(metric="score:q", direction=direction),
        attempt("b", BASELINE, score=(kind, -4.0, 4.0)),
        attempt("t", TREATMENT, score=(kind, -1.0, 1.0)),
    )
    assert (found[0][2], found[1][2]) == values
    assert found[2] == (3.0, "win")


def test_a_question_is_known_by_its_whole_id() -> None:
    scored = attempt("b", BASELINE, score=("groupBrier", 1.0, 0.0))
    assert sides(campaign(metric="score:q"), scored)[0][2] == 1.0
    assert sides(campaign(metric="score:q:q"), scored)[0][2] is None


@pytest.mark.parametrize(
    ("baseline", "treatment", "direction", "tolerance", "expected"),
    [
        (1.0, 3.0, "higher_is_better", 1, (2.0, "win")),
        (1.0, 3.0, "lower_is_better", 1, (-2.0, "loss")),
        (3.0, 1.0, "higher_is_better", 1, (-2.0, "loss")),
        (3.0, 1.0, "lower_is_better", 1, (2.0, "win")),
        (1.0, 2.0, "higher_is_better", 1, (1.0, "tie")),
        (2.0, 1.0, "higher_is_better", 1, (-1.0, "tie")),
        (0.95, 1.0, "higher_is_better", 0.05, (1 - 0.95, "tie")),
        (1.0, 0.95, "higher_is_better", 0.05, (0.95 - 1, "tie")),
        (0.0, 0.05 + 2e-9, "higher_is_better", 0.05, (0.05 + 2e-9, "win")),
        (0.05 + 2e-9, 0.0, "higher_is_better", 0.05, (-0.05 - 2e-9, "loss")),
        (0.0, 1e6 + 5e-4, "higher_is_better", 1e6, (1e6 + 5e-4, "tie")),
        (0.0, 1e6 + 2e-3, "higher_is_better", 1e6, (1e6 + 2e-3, "win")),
        (1.0, 1.0, "higher_is_better", 0, (0.0, "tie")),
        (0.0, 1e-9, "higher_is_better", 0, (1e-9, "tie")),
        (0.0, 2e-9, "higher_is_better", 0, (2e-9, "win")),
        (2e-9, 0.0, "higher_is_better", 0, (-2e-9, "loss")),
        (-1.7e308, 1.7e308, "higher_is_better", 0, (None, None)),
        (None, 1.0, "higher_is_better", 0, (None, None)),
        (1.0, None, "lower_is_better", 0, (None, None)),
    ],
)
def test_effect_and_result(
    baseline: float | None, treatment: float | None, direction: str, tolerance: float, expected: tuple[Any, Any]
) -> None:
    found = sides(
        campaign(metric="reward", direction=direction, tolerance=tolerance),
        attempt("b", BASELINE, reward=baseline),
        attempt("t", TREATMENT, reward=treatment),
    )
    assert (found[0][2], found[1][2]) == (baseline, treatment)
    assert found[2] == expected
    assert str(found[2][0]) != "-0.0"


@pytest.mark.parametrize("direction", ["higher_is_better", "lower_is_better"])
def test_no_effect_is_a_plain_zero(direction: str) -> None:
    document = campaign(metric="reward", direction=direction)
    for baseline, treatment in ((0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)):
        found = sides(document, attempt("b", BASELINE, reward=baseline), attempt("t", TREATMENT, reward=treatment))
        assert str(found[2][0]) == "0.0"


def test_every_case_stays_in_key_order() -> None:
    cases = [case(*key) for key in (("é",), ("b", "c", "t", "s", 10), ("b", "c", "t", "s", 9), ("B",), ("a", "z"))]
    found = paired(campaign(*cases), attempt("x", TREATMENT, cases[2])).pairs
    assert found.select(CASE).rows() == sorted(tuple(one.values()) for one in cases)
    assert Counter(found["treatment_class"]) == {"missing": 4, "eligible": 1}


def test_of_two_attempts_for_one_arm_and_case_none_is_chosen() -> None:
    for class_ in ("eligible", "agent_failure"):
        found = sides(
            campaign(),
            attempt("b1", BASELINE),
            attempt("b2", BASELINE, class_=class_, digest="other"),
            attempt("t", TREATMENT),
        )
        assert found == [("inconclusive", None, None, "duplicate_case"), ("eligible", "t", 1.0, None), (None, None)]


def test_one_attempt_of_each_arm_is_no_duplicate() -> None:
    assert sides(campaign(), attempt("b", BASELINE), attempt("t", TREATMENT))[2] == (0.0, "tie")


def test_an_attempt_that_is_not_verified_under_the_rules_is_inconclusive() -> None:
    other = msgspec.structs.replace(V1, id="v2")
    one = attempt("b", BASELINE, reward=1.0, score=("groupBrier", 1.0, 0.0))
    for metric in ("objectiveSuccess", "primaryValue", "reward", "score:q"):
        document = campaign(metric=metric)
        assert sides(document, attempt("b", BASELINE, class_=None))[0] == ("inconclusive", "b", None, "not_verified")
        row = paired(document, one, rules=other).pairs.row(0, named=True)
        assert (row["rules"], row["baseline_class"], row["baseline_reason"]) == ("v2", "inconclusive", "not_verified")


def test_rows_of_other_rule_sets_and_reward_kinds_do_not_count() -> None:
    one = attempt("b", BASELINE, reward=1.0, score=("groupBrier", 1.0, 0.0))
    others = {
        "verifications": {"class": "agent_failure"},
        "rewards": {"reward": 5.0},
        "assessment_scores": {"score": 5},
    }
    for table, columns in others.items():
        one[table].append(one[table][0] | {"rules": "v0"} | columns)
    one["rewards"].append(one["rewards"][0] | {"reward_kind": "harbor", "reward": 6.0})
    for metric in ("objectiveSuccess", "reward", "score:q"):
        assert sides(campaign(metric=metric), one)[0] == ("eligible", "b", 1.0, None)


@pytest.mark.parametrize("lacking", CASE)
def test_an_attempt_that_lacks_a_part_of_its_case_is_in_none(lacking: str) -> None:
    one = attempt("b", BASELINE)
    one["attempts"][0][lacking] = None
    found = paired(campaign(), one)
    assert found.pairs["baseline_class"].to_list() == ["missing"]
    assert found.unregistered["attempt_id"].to_list() == ["b"]


def test_what_is_outside_of_inventory_and_arms_is_listed_and_never_compared() -> None:
    found = paired(
        campaign(metric="primaryValue"),
        attempt("z", "other", primary=("recovery", 5.0), digest="x"),
        attempt("n", None),
        attempt("t", TREATMENT),
        attempt("o", TREATMENT, case("elsewhere"), primary=("recovery", 5.0)),
        attempt("r", BASELINE, case("f", "c", "t", "s", 2)),
        attempt("b", BASELINE),
        attempt("e", BASELINE, campaign_id="another"),
    )
    assert found.pairs.select("baseline_attempt_id", "treatment_attempt_id").rows() == [("b", "t")]
    assert found.unregistered.rows() == [
        ("n", None, "f", "c", "t", "s", 1),
        ("o", TREATMENT, "elsewhere", "c", "t", "s", 1),
        ("r", BASELINE, "f", "c", "t", "s", 2),
        ("z", "other", "f", "c", "t", "s", 1),
    ]
    assert found.unregistered.schema == {name: schema(Attempts)[name] for name in ("attempt_id", "arm_id", *CASE)}
    assert found.refusals == []


FIRST, SECOND = case("f", "c", "t", "s", 1), case("f", "c", "t", "s", 2)
MIXES = {
    "primaryValue": ({"primary": ("net_cash", 1.0)}, {"primary": ("recovery", 1.0)}, {"primary": ("recovery", None)}),
    "score:q": (
        {"score": ("groupBrier", 1.0, 1.0)},
        {"score": ("normalizedSquaredError", 1.0, 1.0)},
        {"score": ("normalizedSquaredError", None, None)},
    ),
}


@pytest.mark.parametrize("metric", MIXES)
@pytest.mark.parametrize("place", [(TREATMENT, FIRST), (BASELINE, SECOND), (TREATMENT, SECOND)])
def test_mixed_units_are_refused(metric: str, place: tuple[str, dict[str, Any]]) -> None:
    plain, other, without = MIXES[metric]
    document = campaign(FIRST, SECOND, metric=metric)
    places = [(arm, of) for of in (FIRST, SECOND) for arm in (BASELINE, TREATMENT)]

    def found(odd: dict[str, Any], class_: str = "eligible") -> Any:
        attempts = [
            attempt(f"{number}", *one, class_ if one == place else "eligible", **(odd if one == place else plain))
            for number, one in enumerate(places)
        ]
        return paired(document, *attempts)

    refused = found(other)
    assert refused.refusals == ["mixed_units"]
    assert refused.pairs.select("effect", "result").rows() == [(None, None)] * 2
    assert refused.pairs.select("baseline_value", "treatment_value").rows() == [(1.0, 1.0)] * 2
    assert found(plain).refusals == found(without).refusals == found(other, "ineligible").refusals == []
    assert found(plain).pairs["result"].to_list() == ["tie", "tie"]


def test_units_do_not_matter_to_other_metrics() -> None:
    one = attempt("b", BASELINE, primary=("net_cash", 1.0), score=("groupBrier", 1.0, 0.0), reward=1.0)
    other = attempt("t", TREATMENT, primary=("recovery", 1.0), score=("normalizedSquaredError", 1.0, 0.0), reward=1.0)
    for metric in ("objectiveSuccess", "reward", "closing:cashCents"):
        assert paired(campaign(metric=metric), one, other).refusals == []


@pytest.mark.parametrize(
    ("baseline", "treatment", "refusals"),
    [("a", "a", []), ("a", "b", ["contract_mismatch"]), (None, "b", []), ("a", None, []), (None, None, [])],
)
@pytest.mark.parametrize("class_", ["eligible", "agent_failure"])
def test_other_task_contracts_of_a_case_are_refused(
    baseline: str | None, treatment: str | None, refusals: list[str], class_: str
) -> None:
    found = paired(
        campaign(FIRST, SECOND),
        attempt("b", BASELINE, FIRST, digest=baseline),
        attempt("t", TREATMENT, FIRST, class_, digest=treatment),
        attempt("b2", BASELINE, SECOND, digest="of another case"),
        attempt("t2", TREATMENT, SECOND, digest="of another case"),
    )
    assert found.refusals == refusals
    assert found.pairs["effect"].is_null().all() == bool(refusals)
    assert found.pairs["baseline_value"].to_list() == [1.0, 1.0]


def test_every_refusal_is_told() -> None:
    one, other = (
        attempt(name, name, primary=(unit, 1.0), digest=name)
        for name, unit in ((BASELINE, "net_cash"), (TREATMENT, "recovery"))
    )
    assert paired(campaign(metric="primaryValue"), one, other).refusals == ["mixed_units", "contract_mismatch"]


METRICS = ("objectiveSuccess", "primaryValue", "reward", "closing:cashCents", "closing:shortfallUnits", "score:q")
NUMBERS = (None, 0.0, 1.0, 0.95, 1.05, 1 - 1e-10)
PRIMARY, ERRORS = ("net_cash", "recovery", None), ("groupBrier", "normalizedSquaredError")


def some(rng: Random, name: str, of: dict[str, Any], arm: str | None, units: int) -> dict[str, list[dict[str, Any]]]:
    """An attempt of any kind; with one unit all are measured alike, and of one task contract."""
    score = rng.choice(NUMBERS)
    days = [
        {"day": day, "cash_cents": rng.choice((None, 1, 2, 10**13)), "shortfall_units": rng.choice(NUMBERS)}
        for day in rng.sample(range(9), rng.randint(0, 3))
    ]
    made = attempt(
        name,
        arm,
        of,
        rng.choices((None, *CLASSES[1:]), (1, 1, 1, 1, 3, 12))[0],
        campaign_id=rng.choices(("cmp-pricing", "another"), (30, 1))[0],
        digest=rng.choices(("d", None, "e"), (30, 3, units - 1))[0],
        reason="r",
        primary=(rng.choice(PRIMARY[:units]), rng.choice(NUMBERS)),
        reward=rng.choice(NUMBERS),
        score=rng.choice((None, (rng.choice(ERRORS[:units]), score, score and 1 - score))),
        days=days,
    )
    if rng.random() < 0.02:
        made["attempts"][0][rng.choice(CASE)] = None
    return made


def campaigns() -> Iterator[tuple[dict[str, Any], Tables]]:
    """Seeded campaigns: with holes, duplicates, strangers and refusals, and others that are whole."""
    for seed in range(400):
        rng = Random(seed)
        keys = [case(*(rng.choice("ab") for _ in range(4)), rng.randint(1, 2)) for _ in range(rng.randint(1, 8))]
        inventory = list({tuple(key.values()): key for key in keys}.values())
        registered = inventory[: rng.randint(max(1, len(inventory) - 1), len(inventory))]
        document = campaign(
            *registered,
            metric=rng.choice(METRICS),
            direction=rng.choice(("higher_is_better", "lower_is_better")),
            tolerance=rng.choice((0, 0.05, 1)),
        )
        arms = [arm for arm in (BASELINE, TREATMENT) for _ in inventory]
        places = list(zip(arms, inventory * 2, strict=True))
        if rng.random() < 0.5:
            places += [rng.choice(places), (rng.choice((None, "third")), rng.choice(inventory))]
            rng.shuffle(places)
            places = places[: rng.randint(1, len(places))]
        units = rng.choice((1, 1, 2, 3))
        yield document, rows(*(some(rng, f"a{number}", of, arm, units) for number, (arm, of) in enumerate(places)))


def as_made(found: Any) -> Comparison:
    """The result in the shape of the reference, without units and contracts."""
    made = Comparison(unregistered=found.unregistered["attempt_id"].to_list(), refusals=found.refusals)
    made.pairs = [
        (
            tuple(row[name] for name in CASE),
            *(tuple(row[f"{side}_{name}"] for name in SIDE) for side in (BASELINE, TREATMENT)),
            row["effect"],
            row["result"],
        )
        for row in found.pairs.to_dicts()
    ]
    return made


def as_expected(expected: Comparison) -> Comparison:
    def told(side: Side) -> tuple[Any, ...]:
        return side.class_, side.attempt_id, side.value, side.reason

    pairs_ = [(one.case, told(one.baseline), told(one.treatment), one.effect, one.result) for one in expected.pairs]
    return Comparison(pairs_, expected.unregistered, expected.refusals)


def test_the_pairs_agree_with_a_plain_reading_of_the_rules() -> None:
    seen: Counter[Any] = Counter()
    for document, tables in campaigns():
        expected = compare(document, tables)
        found = pairs(registration(document), **frames(tables), rules=V1)
        assert as_made(found) == as_expected(expected)
        seen.update(expected.refusals)
        seen.update("unregistered" for _ in expected.unregistered)
        for one in expected.pairs:
            seen.update((one.result, one.baseline.class_, one.treatment.reason))
    reasons = {"duplicate_case", "no_artifact", "not_verified", "no_value", "r"}
    wanted = {*CLASSES, *reasons, "win", "tie", "loss", None, "mixed_units", "contract_mismatch", "unregistered"}
    assert {what for what, count in seen.items() if count >= 5} == wanted


def test_the_order_of_rows_does_not_matter() -> None:
    rng = Random(3)
    for document, tables in list(campaigns())[:40]:
        shuffled = Tables(**{name: rng.sample(list(one), len(one)) for name, one in vars(tables).items()})
        found, other = (pairs(registration(document), **frames(one), rules=V1) for one in (tables, shuffled))
        assert_frame_equal(found.pairs, other.pairs)
        assert_frame_equal(found.unregistered, other.unregistered)


def artifact(arm: str, closing: int, probabilities: dict[str, float]) -> dict[str, Any]:
    """An eligible attempt of the arm."""
    made = FULL
    for path, value in {
        "attempt.attemptId": arm,
        "attempt.armId": arm,
        "task.constraints": [],
        "trajectory.0.netAssetsCents": 6_000_000,
        "trajectory.2.netAssetsCents": closing,
        "answers.0.probabilities": probabilities,
        "verification": None,
    }.items():
        made = changed(path, value, made)
    return made


def test_artifacts_come_to_pairs() -> None:
    """What is joined are the columns of the tables as the decoder and the kernels fill them."""
    unsure, sure = {"A": 0.4, "B": 0.4, "C": 0.2}, {"A": 1.0, "B": 0.0, "C": 0.0}
    tables = decoded([artifact(BASELINE, 6_100_000, unsure), artifact(TREATMENT, 6_250_000, sure)])
    results = {
        "attempts": tables["attempts"],
        "verifications": layer.verdicts(tables).lazy(),
        "rewards": layer.rewarded(tables).lazy(),
        "assessment_scores": layer.scores(tables).lazy(),
        "trajectory_days": tables["trajectory_days"],
    }
    expected = {
        "objectiveSuccess": 0.0,
        "primaryValue": 150_000.0,
        "reward": 0.125 - 1 / 22 - 0.025,
        "closing:netAssetsCents": 150_000.0,
        "score:q-cause": 0.04,
    }
    place = [FULL["attempt"][name] for name in FIELDS]
    for metric, effect in expected.items():
        document = campaign(case(*place), campaignId=FULL["attempt"]["campaignId"], metric=metric)
        found = pairs(registration(document), **results, rules=V1)
        assert found.pairs["effect"].to_list() == pytest.approx([effect])
        assert (found.unregistered.height, found.refusals) == (0, [])
