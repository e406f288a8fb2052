"""What a run's own file declares, and what becomes of one that cannot be read."""

from typing import Any

import pytest

from assets.sources.documents import Document
from tests.assets.sources.agentcompass_documents import (
    DAY,
    HOME,
    STORE,
    document,
    refused,
    together,
)


def run_file(**fields: Any) -> Document:
    return document(f"{HOME}/run.json", fields)


@pytest.mark.parametrize(
    ("broken", "reason", "path"),
    [
        (run_file(k=0), "out_of_range", "$.k"),
        (run_file(runId=""), "bad_identifier", "$.runId"),
        (run_file(model=7), "wrong_type", "$.model"),
        (run_file(strategy="best"), "unknown_value", "$.strategy"),
        (run_file(aggregation="median"), "unknown_value", "$.aggregation"),
        (run_file(missingScore="skip"), "unknown_value", "$.missingScore"),
        (run_file(missingScore=True), "wrong_type", "$.missingScore"),
        (run_file(missingScore=10**400), "out_of_range", "$.missingScore"),
        (run_file(metrics={"m": {"kind": "ratio"}}), "unknown_value", "$.metrics.m.kind"),
        (
            run_file(metrics={"m": {"kind": "scalar", "reducers": ["best"]}}),
            "unknown_value",
            "$.metrics.m.reducers[0]",
        ),
        (run_file(metrics={"": {"kind": "scalar"}}), "bad_identifier", "$.metrics."),
        (run_file(categoryHierarchy=[1]), "wrong_type", "$.categoryHierarchy"),
        (run_file(categoryHierarchy={"all": {}}), "missing_field", "$.categoryHierarchy.overall"),
        (
            run_file(categoryHierarchy={"overall": {"children": {"py": {"weight": -1}}}}),
            "out_of_range",
            "$.categoryHierarchy.overall.children.py.weight",
        ),
        (
            run_file(categoryHierarchy={"overall": {"children": {"py": None}}}),
            "wrong_type",
            "$.categoryHierarchy.overall.children.py",
        ),
        (
            run_file(categoryHierarchy={"overall": {"aggregation": "median"}}),
            "unknown_value",
            "$.categoryHierarchy.overall.aggregation",
        ),
    ],
)
def test_a_run_that_cannot_be_read_says_where(broken: Document, reason: str, path: str) -> None:
    assert refused(together(broken)) == [(f"{HOME}/run.json", "decode", reason, path)]


@pytest.mark.parametrize(
    ("fields", "reason", "path"),
    [
        ({"aggregation": "category_hierarchy"}, "contradiction", "$.categoryHierarchy"),
        ({"metrics": {"m": {"kind": "scalar", "reducers": ["pass"]}}}, "contradiction", "$.metrics.m.reducers"),
        (
            {"categoryHierarchy": {"overall": {"children": {"a": {"children": {"b": {}}}, "b": {}}}}},
            "duplicate_category",
            "$.categoryHierarchy.overall.children.b",
        ),
    ],
)
def test_a_run_that_contradicts_itself_is_refused(fields: dict[str, Any], reason: str, path: str) -> None:
    assert refused(together(run_file(**fields))) == [(f"{HOME}/run.json", "contract", reason, path)]


def test_how_a_run_wants_to_be_measured() -> None:
    hierarchy = {"overall": {"aggregation": "weighted", "note": 1, "children": {"py": {"weight": 3}, "js": {}}}}
    run = {
        "k": 3,
        "strategy": "pass",
        "aggregation": "micro_weighted",
        "scoreKey": "score",
        "missingScore": 0,
        "revision": "abc",
        "categoryHierarchy": hierarchy,
        "metrics": {"correct": {"kind": "binary_success", "reducers": ["avg", "pass"], "primary": True}},
        "unknown": 1,
    }
    (row,) = together(document(f"{HOME}/run.json", run)).frames["benchmark_runs"].to_dicts()
    assert row == {
        "document": 0,
        "source": "agentcompass",
        "landed_on": DAY,
        "uri": f"{STORE}{HOME}/run.json",
        "run_id": "nightly",
        "benchmark": "gsm",
        "registered": None,
        "running": None,
        "duplicates": 0,
        "k": 3,
        "strategy": "pass",
        "aggregation": "category_hierarchy",
        "score_key": "score",
        "missing_score": 0.0,
        "exclude_missing": False,
        "revision": "abc",
        "hierarchy": '{"overall":{"aggregation":"weighted","children":{"js":{"aggregation":"leaf"},'
        '"py":{"aggregation":"leaf","weight":3}}}}',
        "metric_contract": [
            {"name": "correct", "kind": "binary_success", "reducers": ["avg", "pass"], "primary": True}
        ],
    }


@pytest.mark.parametrize(
    ("fields", "column", "value"),
    [
        ({"aggregation": "micro_weighted"}, "aggregation", "micro"),
        ({"aggregation": "category_mean", "categoryHierarchy": {}}, "aggregation", "category_mean"),
        ({"missingScore": "exclude"}, "exclude_missing", True),
        ({"missingScore": "exclude"}, "missing_score", None),
        ({}, "exclude_missing", None),
        ({"metrics": {}}, "metric_contract", None),
        (
            {"metrics": {"m": {"kind": "scalar"}}},
            "metric_contract",
            [{"name": "m", "kind": "scalar", "reducers": None, "primary": False}],
        ),
    ],
)
def test_what_a_run_declares(fields: dict[str, Any], column: str, value: Any) -> None:
    assert together(run_file(**fields)).frames["benchmark_runs"][column].to_list() == [value]
