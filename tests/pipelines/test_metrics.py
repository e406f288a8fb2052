"""Metrics: the library's own parsers read them, and the figures are those of the tables."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from assets.attempts.contract import Attempts
from assets.landing.contract import Quarantine, RawArtifacts
from assets.reconciliation.contract import Reconciliation
from assets.tables import TABLES
from assets.verification.contract import Verifications
from pipelines.metrics import text
from pipelines.storage.tables import Tables
from pipelines.storage.upkeep import maintain
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, HOSTILE, NOON, arrival, attempt, store, verdict

NOW = NOON + dt.timedelta(hours=1)
ALERTS = Path(__file__).parents[2] / "infra/alerts.yaml"
Figures = dict[tuple[tuple[str, str], ...], float]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path))


def figures(tables: Tables) -> dict[str, Figures]:
    """Every family, its series by their labels."""
    told = text(tables, NOW)
    found: dict[str, Figures] = {}
    for family in openmetrics(told):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        assert not family.unit or family.name.endswith(f"_{family.unit}")
        found[family.name] = {tuple(sorted(one.labels.items())): one.value for one in family.samples}
    older = {one.name: [sample.value for sample in one.samples] for one in prometheus(told)}
    assert older == {name: list(series.values()) for name, series in found.items()}
    return found


def labelled(**labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


@pytest.mark.parametrize("created", [False, True])
def test_before_the_first_run_there_are_families_without_series(tables: Tables, created: bool) -> None:
    if created:
        tables.ensure(TABLES.values())
    found = figures(tables)
    assert len(found) == 10
    assert all(series == {} for series in found.values())
    assert text(tables, NOW).endswith("# EOF\n")


def test_of_each_object_the_newest_content_counts(tables: Tables) -> None:
    late = NOON + dt.timedelta(minutes=30)
    store(
        tables,
        RawArtifacts,
        arrival("/a.json", b"12345"),
        arrival("/a.json", b"123", batch="b2", etag="2", ingested_at=late),
        arrival("/b.json", b"1234567", landed_on=DAY_2),
        arrival("/gone.json", b"1", batch="b3"),
        arrival("/gone.json", None, batch="b4", vanished=True, ingested_at=NOW),
        arrival("/large.json", None, batch="b5", size_bytes=10**9, fetch_reason="too_large", ingested_at=NOW),
    )
    found, source = figures(tables), labelled(source="worldseq")
    assert found["scorehouse_landed_objects"] == {source: 2}
    assert found["scorehouse_landed_bytes"] == {source: 10}
    assert found["scorehouse_landing_timestamp_seconds"] == {source: late.timestamp()}
    assert found["scorehouse_landing_lag_seconds"] == {source: 1800}
    midnight = dt.datetime.combine(DAY_2, dt.time(), dt.UTC)
    assert found["scorehouse_landing_day_timestamp_seconds"] == {source: midnight.timestamp()}


def test_an_attempt_of_several_days_counts_once_and_a_class_of_none_is_0(tables: Tables) -> None:
    store(
        tables,
        Attempts,
        attempt("worldseq:a", DAY_1),
        attempt("worldseq:a", DAY_2, shape="summary"),
        attempt("worldseq:b", DAY_2),
        attempt("harbor:c:1", DAY_2, source="harbor", shape="trial"),
    )
    store(
        tables,
        Verifications,
        verdict("worldseq:a", DAY_1, "ineligible"),
        verdict("worldseq:a", DAY_2, "eligible"),
        verdict("worldseq:b", DAY_2, "ineligible"),
        verdict("harbor:c:1", DAY_2, "inconclusive"),
        verdict("worldseq:b", DAY_2, "eligible", rules="v2"),
    )
    found = figures(tables)["scorehouse_attempts"]
    had = {labels: count for labels, count in found.items() if count}
    assert had == {
        labelled(rules="v1", source="worldseq", **{"class": "ineligible"}): 2,
        labelled(rules="v1", source="harbor", **{"class": "inconclusive"}): 1,
        labelled(rules="v2", source="worldseq", **{"class": "eligible"}): 1,
    }
    # Five classes of each rule set and source that has any; `missing` is no class of an attempt that left a document.
    assert len(found) == 3 * 5
    assert labelled(rules="v2", source="harbor", **{"class": "eligible"}) not in found


def test_quarantine_and_disagreements_are_counted_and_labels_are_escaped(tables: Tables) -> None:
    row = {"landed_on": DAY_1, "stage": "decode", "uri": "/x"}
    odd = HOSTILE + '"}\\\n'
    store(
        tables,
        Quarantine,
        *({**row, "source": "worldseq", "reason": reason} for reason in ("not_json", "not_json", "empty")),
        {**row, "source": odd, "reason": "empty"},
    )
    told = {"field": "x", "recorded_in": "y", "landed_on": DAY_1, "attempt_id": "worldseq:a"}
    agreed = ((rules, agrees) for rules, agrees in (("v1", True), ("v1", False), ("v1", False), ("v2", True)))
    store(tables, Reconciliation, *({**told, "rules": rules, "agrees": agrees} for rules, agrees in agreed))
    found = figures(tables)
    assert found["scorehouse_quarantined_documents"] == {
        labelled(source="worldseq", stage="decode", reason="not_json"): 2,
        labelled(source="worldseq", stage="decode", reason="empty"): 1,
        labelled(source=odd, stage="decode", reason="empty"): 1,
    }
    assert found["scorehouse_disagreements"] == {labelled(rules="v1"): 2, labelled(rules="v2"): 0}


def test_results_are_as_old_as_their_newest_commit_with_rows_or_without(tables: Tables) -> None:
    store(tables, Verifications, verdict("worldseq:a", DAY_1, "eligible"))
    first = figures(tables)["scorehouse_results_timestamp_seconds"]
    assert list(first) == [labelled(rules="v1")]
    empty: Any = tables.scan(Verifications).clear()
    tables.replace(Verifications, empty, [{"landed_on": DAY_2, "rules": rules} for rules in ("v1", "v2")])
    tables.replace(Verifications, empty, [{"landed_on": DAY_2, "rules": "v2"}])
    found = figures(tables)["scorehouse_results_timestamp_seconds"]
    assert set(found) == {labelled(rules="v1"), labelled(rules="v2")}
    assert first[labelled(rules="v1")] <= found[labelled(rules="v1")] <= found[labelled(rules="v2")]
    maintain(tables, Verifications, dt.timedelta(days=7))
    assert figures(tables)["scorehouse_results_timestamp_seconds"] == found


def test_the_content_of_documents_is_not_read(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tables, RawArtifacts, arrival("/a.json", b"12345"))
    scan = Tables.scan
    monkeypatch.setattr(Tables, "scan", lambda *given: scan(*given).drop("content", strict=False))
    assert figures(tables)["scorehouse_landed_objects"] == {labelled(source="worldseq"): 1}


def test_every_alert_is_about_metrics_and_labels_that_exist(tables: Tables) -> None:
    known = set(figures(tables))
    [group] = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "annotations"}
        named = set(re.findall(r"scorehouse_\w+", rule["expr"]))
        assert named
        assert named <= known, rule["alert"]
