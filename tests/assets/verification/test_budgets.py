from typing import Any

import msgspec
import polars as pl
import pytest

from tests.assets.verification.layer import V1, attempt, frames, predicates

AT_THE_LIMIT = {"accepted_decisions": 128, "player_calls": 1024, "elapsed_seconds": 7200.0}


def judged(rows: list[dict[str, Any]] | None = None, **usage: Any) -> list[tuple[Any, ...]]:
    made = attempt(parts={"task_predicates": rows or []}, **usage)
    columns = ("predicate_id", "outcome", "reason", "observed", "limit")
    return predicates(frames(made)).select(columns).rows()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, ("pass", None, None, None)),
        ({"accepted_decisions": 129}, ("fail", "breach", 129.0, 128.0)),
        ({"player_calls": 1025}, ("fail", "breach", 1025.0, 1024.0)),
        ({"elapsed_seconds": 7200.0000001}, ("fail", "breach", 7200.0000001, 7200.0)),
        ({"elapsed_seconds": None}, ("inconclusive", "usage_missing", None, None)),
        ({"elapsed_seconds": None, "player_calls": 1025}, ("fail", "breach", 1025.0, 1024.0)),
    ],
)
def test_the_standard_budget_applies_to_everyone(usage: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert judged(**AT_THE_LIMIT | usage) == [("gameplay_budget", *expected)]


def test_every_declaring_row_is_judged_with_its_own_overrides() -> None:
    rows = [
        {"predicate_id": "tight", "kind": "gameplay_budget", "player_calls": 1023},
        {"predicate_id": "wide", "kind": "gameplay_budget", "accepted_decisions": 2**53},
    ]
    assert [row[:2] for row in judged(rows, **AT_THE_LIMIT)] == [("tight", "fail"), ("wide", "pass")]


def test_another_kind_of_that_name_does_not_declare_the_budget() -> None:
    rows = [{"predicate_id": "gameplay_budget", "kind": "horizon"}]
    assert [row[:2] for row in judged(rows)] == [("gameplay_budget", "pass"), ("gameplay_budget", "pass")]


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (5, ("pass", None, 5.0, 5.0)),
        (6, ("fail", "breach", 6.0, 5.0)),
        (None, ("inconclusive", "usage_missing", None, 5.0)),
    ],
)
def test_token_budget(reported: int | None, expected: tuple[Any, ...]) -> None:
    assert judged(reported_tokens=reported, token_budget=5)[1] == ("token_budget", *expected)


def test_the_rule_set_switches_the_token_budget() -> None:
    off = msgspec.structs.replace(V1, gameplay=msgspec.structs.replace(V1.gameplay, token_budget=False))
    made = frames(attempt(reported_tokens=6, token_budget=5))
    assert predicates(made, off)["predicate_id"].to_list() == ["gameplay_budget"]


def test_limits_come_from_the_rule_set() -> None:
    strict = msgspec.structs.replace(V1, gameplay=msgspec.structs.replace(V1.gameplay, player_calls=0))
    assert predicates(frames(attempt()), strict).select(pl.col("outcome", "limit")).rows() == [("fail", 0.0)]
