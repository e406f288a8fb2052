"""The question side of generated attempts: what was asked, what the player answered, what the evaluator knows.

Answers are written by untrusted players, so their numbers, conclusions and flags may be anything that JSON can say.
"""

from random import Random
from typing import Any

from .contracts import CENTS, COUNTS, UNITS, UNREGISTERED
from .hostile import HUGE, Json, chance, identifier, nonsense, unique

REQUIRED = {"kind": "supported_conclusion"}


def questions(rng: Random, horizon: int, *, calm: bool) -> list[Json]:
    """Return question rows of every kind, some with a contract that cannot be graded."""
    kinds = rng.choices(("categorical", "forecast", "counterfactual"), k=rng.choice((0, 1, 2, 3, 4)))
    return [_question(rng, kind, number, horizon, calm=calm) for number, kind in enumerate(kinds)]


def evidence(rng: Random, asked: list[Json], *, calm: bool) -> Json:
    """Return what the evaluator knows of each question, gaps and contradictions included."""
    known: Json = {}
    for question in asked:
        if question["kind"] == "categorical":
            truth = rng.choice([member for group in question["equivalenceGroups"] for member in group] or ["A"])
            known[question["id"]] = (
                {"truth": truth} if calm else rng.choice((*[{"truth": truth}] * 8, {"truth": None}, {}))
            )
            if not calm and chance(rng, 0.05):
                known[question["id"]] = {"truth": "nobody"}
        elif question["kind"] == "counterfactual":
            known[question["id"]] = _counterfactual(rng, question, calm=calm)
        if not calm and chance(rng, 0.05):
            known[question["id"]] = None
    if chance(rng, 0.1):
        known["unknown question"] = {"truth": "A"}
    return known


def answers(rng: Random, asked: list[Json], known: Json, days: list[Json], *, calm: bool) -> list[Json]:
    """Return the answers to all questions in one shuffled list: ties, late ones, withdrawn ones, and nonsense."""
    given: list[Json] = []
    for question in asked:
        facts = known.get(question["id"]) or {}
        if calm:
            given += [_answer(rng, question, facts, days, calm=chance(rng, 0.5)) for _ in range(rng.choice((0, 0, 1)))]
            given = [row for row in given if row["questionId"] != question["id"] or row["submittedOnDay"] < 1]
            last = _answer(rng, question, facts, days, calm=True)
            given.append(last | {"submittedOnDay": question["dueOnDay"] - 1, "sequence": 99, "status": "accepted"})
        else:
            given += [
                _answer(rng, question, facts, days, calm=chance(rng, 0.5))
                for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))
            ]
    if chance(rng, 0.1):
        given.append({"questionId": "unknown question", "submittedOnDay": 0, "status": "accepted", "prediction": HUGE})
    rng.shuffle(given)
    return given


def _question(rng: Random, kind: str, number: int, horizon: int, *, calm: bool) -> Json:
    row: Json = {
        "id": unique(rng, "q", number),
        "kind": kind,
        "dueOnDay": rng.choice((1, 2, 7) if calm else (0, 1, 2, 7)),
    }
    if chance(rng, 0.02 if kind == "forecast" and not calm else 0.0 if kind == "forecast" else 0.6):
        row["requirement"] = REQUIRED
    fault = not calm and chance(rng, 0.12)
    if kind == "categorical":
        return row | _choices(rng, fault=fault)
    row |= {
        "metric": rng.choice(CENTS + COUNTS + UNITS),
        "outcomeOnDay": rng.randint(0, horizon),
        "scale": rng.choice((1, 10, 0.3, 2.5e5)),
    }
    if not calm and chance(rng, 0.08):
        row["outcomeOnDay"] = horizon + 1
    if not calm and chance(rng, 0.06):
        row["scale"] = 1e-300
    if kind == "counterfactual":
        row["checkpointDay"] = rng.randint(0, horizon)
        row["oneShotAction"] = rng.choice((None, "raise_price", identifier(rng)))
    if fault:
        wrong: list[Json] = [{"scale": 0}, {"scale": -0.0}, {"scale": -3}, {"metric": rng.choice(UNREGISTERED)}]
        row |= rng.choice([*wrong, {"checkpointDay": None}] if kind == "counterfactual" else wrong)
    return row


def _choices(rng: Random, *, fault: bool) -> Json:
    names = rng.choice((["A"], ["A", "B"], ["A", "B", "C"], ["A", "B", "C", "d'é💥", "<script>"]))
    groups: list[list[str]] = []
    for name in names:
        if groups and chance(rng, 0.45):
            rng.choice(groups).append(name)
        else:
            groups.append([name])
    if fault:
        return rng.choice(
            (
                {"candidates": [*names, names[0]], "equivalenceGroups": groups},
                {"candidates": [*names, names[0]], "equivalenceGroups": [*groups, [names[0]]]},
                {"candidates": [*names, "Z"], "equivalenceGroups": groups},
                {"candidates": names, "equivalenceGroups": [*groups, ["Z"]]},
                {"candidates": names, "equivalenceGroups": [*groups, [names[-1]]]},
                {"candidates": names, "equivalenceGroups": [*groups, []]},
                {"candidates": names, "equivalenceGroups": []},
                {"candidates": [], "equivalenceGroups": []},
            )
        )
    return {"candidates": names, "equivalenceGroups": groups}


def _counterfactual(rng: Random, question: Json, *, calm: bool) -> Json:
    day = str(question["outcomeOnDay"])
    facts: Json = {
        "oneShotAction": rng.choice(("available", "cancelled")),
        "supportedConclusion": rng.choice((["decrease"], ["increase", "none"], ["a/b", "💥", "a/b"])),
        "factualPrefixDigest": "p1",
    }
    for name in ("baseline", "intervention"):
        values = {day: rng.choice((rng.randint(-50, 50) / 4, rng.randint(0, 9))), "100000": 1e300}
        facts[name] = {"verified": True, "prefixDigest": "p1", "exogenousDigest": "x1", "values": values}
    if calm or chance(rng, 0.3):
        return facts
    branch = facts[rng.choice(("baseline", "intervention"))]
    for _ in range(rng.choice((1, 1, 2))):
        part, change = rng.choice(
            (
                *[(facts, {"oneShotAction": state}) for state in ("reserved", "consumed", None, "other", "Available")],
                (facts, {"supportedConclusion": []}),
                (facts, {"supportedConclusion": None}),
                (facts, {"factualPrefixDigest": None}),
                (facts, {rng.choice(("baseline", "intervention")): None}),
                (branch, {"verified": rng.choice((False, None))}),
                (branch, {"prefixDigest": rng.choice(("p2", None))}),
                (branch, {"exogenousDigest": rng.choice(("x2", None))}),
                (branch, {"values": rng.choice(({}, None, {day: None}, {"100000": 5.0}))}),
            )
        )
        part.update(change)
    if chance(rng, 0.05):
        facts["factualPrefixDigest"] = None
        for name in ("baseline", "intervention"):
            facts[name] = {"verified": True, "values": {day: 1.0}}
    return facts


def _answer(rng: Random, question: Json, facts: Json, days: list[Json], *, calm: bool) -> Json:
    row: Json = {
        "questionId": question["id"],
        "sequence": rng.choice((None, 0, 1, 1, 2)),
        "submittedOnDay": rng.choice((0, 0, max(question["dueOnDay"] - 1, 0), question["dueOnDay"], 9)),
        "status": rng.choice(("accepted", "accepted", "accepted", "pending", "rejected", "Accepted")),
    }
    if question["kind"] == "categorical":
        row["probabilities"] = _probabilities(rng, question["candidates"], calm=calm)
    else:
        row["prediction"] = _prediction(rng, question, facts, days, calm=calm)
    if question.get("requirement"):
        row |= _conclusion(rng, question, facts, calm=calm)
    elif chance(rng, 0.2):
        row |= {"conclusion": nonsense(rng), "unresolved": nonsense(rng)}
    return row if chance(rng, 0.7) else {key: value for key, value in row.items() if value is not None}


def _probabilities(rng: Random, candidates: list[str], *, calm: bool) -> Any:
    names = list(dict.fromkeys(candidates))
    weights = [rng.randint(0, 10) for _ in names]
    if not any(weights):
        weights = [1] * len(names)
    spread: Json = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
    if chance(rng, 0.15) and names:
        winner = rng.choice(names)
        spread = {name: rng.choice((1, 1.0)) if name == winner else rng.choice((0, 0.0, -0.0)) for name in names}
    elif chance(rng, 0.15) and names:
        smallest = min(names, key=lambda name: spread[name])
        spread[smallest] += 5e-10 if spread[smallest] < 1 else -5e-10
    if calm:
        return spread
    name, other = rng.choice(names or ["A"]), "nobody"
    return rng.choice(
        (
            nonsense(rng),
            None,
            {},
            spread | {other: 0},
            {key: value for key, value in spread.items() if key != name},
            spread | {name: rng.choice((nonsense(rng), True, None))},
            spread | {name: spread.get(name, 0) + rng.choice((3e-9, -3e-9, 0.1, -0.1))},
            dict.fromkeys(names, 0.9 / max(len(names), 1)),
            {key: 2.5 if key == name else -1.5 for key in names},
        )
    )


def _prediction(rng: Random, question: Json, facts: Json, days: list[Json], *, calm: bool) -> Any:
    actual: float = 0
    if question["kind"] == "forecast" and question["metric"] not in UNREGISTERED:
        on_day = (day.get(question["metric"]) for day in days if day["day"] == question["outcomeOnDay"])
        actual = next(on_day, None) or 0
    elif question["kind"] == "counterfactual":
        ends: list[Json] = [((facts.get(name) or {}).get("values") or {}) for name in ("intervention", "baseline")]
        after, before = (values.get(str(question["outcomeOnDay"])) or 0 for values in ends)
        actual = after - before
    if calm:
        offset = rng.choice((0, question["scale"], -2 * question["scale"], rng.uniform(-1e4, 1e4)))
        return rng.choice((actual + offset, actual + offset, 10**30, -7, 1e200))
    return rng.choice((nonsense(rng), None, True, False, 1e308, -1e308, 1e160, 10**155, actual))


def _conclusion(rng: Random, question: Json, facts: Json, *, calm: bool) -> Json:
    if question["kind"] == "categorical":
        groups = question["equivalenceGroups"]
        right = next((list(group) for group in groups if facts.get("truth") in group), [])
    else:
        right = list(facts.get("supportedConclusion") or [])
    rng.shuffle(right)
    several = len(set(right)) > 1
    unresolved: Json = (
        {"unresolved": True} if several else rng.choice(({}, {"unresolved": False}, {"unresolved": None}))
    )
    good = {"conclusion": right + right[: rng.choice((0, 0, 1))]} | unresolved
    if calm or chance(rng, 0.4):
        return good
    return rng.choice(
        (
            good | {"unresolved": not several},
            good | {"unresolved": rng.choice((nonsense(rng), 1, 0, "true", "false"))},
            good
            | {
                "conclusion": rng.choice((nonsense(rng), None, [], right[0] if right else "A", dict.fromkeys(right, 1)))
            },
            good | {"conclusion": [*right, rng.choice(("Z", None, 1, ["A"], float("inf"), HUGE))]},
            good | {"conclusion": right[1:]},
            {},
        )
    )
