"""The demo as a person starts it: a real process over the whole example store, and what came out of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from assets.sources.registry import patterns
from assets.vocabulary import CLASSES
from pipelines.cli import demo_store
from pipelines.cli.demo_examples import EXAMPLES
from tests.pipelines.cli.processes import process

WIDTH = 92  # of plain text: on a terminal there is more between the columns, 100 in all
UNMEASURED = (None, None)

# What each run of the store comes to, by hand: run, benchmark, metric, k; its figures under strict and scored_only, the
# policy of the headline; and the counts total, evaluated, error, unavailable, invalidated.
FIGURES: dict[tuple[str, str, str, int | None], tuple[tuple[float | None, float | None], str, tuple[int, ...]]] = {
    ("mini-large", "tb-mini", "reward", None): ((9 / 12, 9 / 12), "scored_only", (12, 12, 0, 0, 0)),
    ("oracle", "tb-mini", "reward", None): ((1.0, 1.0), "scored_only", (4, 4, 0, 0, 0)),
    # Of twelve one left nothing, and four a reward that does not count; a timeout voids none.
    ("mini-small", "tb-mini", "reward", None): ((4 / 12, 4 / 7), "scored_only", (12, 7, 6, 5, 0)),
    ("reviews", "review", "reward", None): ((0.75, 0.75), "scored_only", (4, 4, 0, 0, 0)),
    ("migrations", "multi-step", "reward", None): ((1.5 / 3, 1.5 / 2), "scored_only", (3, 2, 2, 1, 0)),
    ("tb-core", "terminal-bench", "accuracy", None): ((11 / 16, 11 / 15), "strict", (16, 15, 1, 1, 0)),
    ("eu-large", "checkout-eu", "reward", None): ((2.3672 / 4, 2.3672 / 3), "scored_only", (4, 3, 1, 1, 0)),
    ("eu-large", "checkout-eu", "passed", None): ((1 / 4, 1 / 3), "strict", (4, 3, 1, 1, 0)),
    ("eu-small", "checkout-eu", "reward", None): ((1.15 / 4, 1.15 / 2), "scored_only", (4, 2, 1, 2, 0)),
    ("eu-small", "checkout-eu", "passed", None): ((0.0, 0.0), "strict", (4, 2, 1, 2, 0)),
    ("stock-full", "stock-count", "reward", None): ((1.65 / 2, 1.65 / 2), "scored_only", (2, 2, 0, 0, 0)),
    ("stock-full", "stock-count", "passed", None): ((0.5, 0.5), "strict", (2, 2, 0, 0, 0)),
    ("stock-free", "stock-count", "reward", None): ((1.75 / 2, 1.75 / 2), "scored_only", (2, 2, 0, 0, 0)),
    ("stock-free", "stock-count", "passed", None): ((0.5, 0.5), "strict", (2, 2, 0, 0, 0)),
    # Their pack is invalid, or nowhere.
    ("refunds-1", "refunds", "reward", None): ((0.0, None), "scored_only", (1, 0, 0, 1, 0)),
    ("refunds-1", "refunds", "passed", None): ((0.0, None), "strict", (1, 0, 0, 1, 0)),
    ("vendors-1", "vendors", "reward", None): ((0.0, None), "scored_only", (1, 0, 0, 1, 0)),
    ("vendors-1", "vendors", "passed", None): ((0.0, None), "strict", (1, 0, 0, 1, 0)),
    # Coding, python and sql alike, weighs three times what browsing does.
    ("m-large", "office-tasks", "correct avg", 3): (
        ((3 * (2 / 3 + 2 / 3) / 2 + 1 / 2) / 4, (3 * (1 + 2 / 3) / 2 + 1 / 3) / 4),
        "scored_only",
        (6, 3, 2, 3, 0),
    ),
    ("m-large", "office-tasks", "correct pass", 3): ((1.0, 1.0), "scored_only", (6, 6, 2, 0, 0)),
    # A fatal issue withholds them.
    ("m-small", "office-tasks", "correct avg", 3): (UNMEASURED, "scored_only", (6, 4, 2, 1, 1)),
    ("m-small", "office-tasks", "correct pass", 3): (UNMEASURED, "scored_only", (6, 4, 2, 1, 1)),
    ("m-large", "short-answers", "accuracy", 1): ((2 / 7, 2 / 4), "strict", (7, 4, 3, 3, 0)),
    ("m-large", "short-answers", "score", 1): ((2 / 7, 2 / 4), "scored_only", (7, 4, 3, 3, 0)),
    ("m-small", "short-answers", "score", 1): ((2 / 6, 2 / 4), "scored_only", (6, 4, 2, 2, 0)),
}
# Registered, present, valid, errors, missing.
TOTALS = {
    "mini-small": (12, 11, 7, 6, 1),
    "migrations": (3, 3, 2, 2, 0),
    "m-large/office-tasks": (18, 17, 15, 1, 1),
    "m-small/office-tasks": (18, 18, 16, 2, 0),
    "eu-small": (4, 4, 2, 1, 0),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a finished demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    result = process("demo", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def ask(folder: Path, query: str) -> list[dict[str, Any]]:
    result = process("sql", query, "--format", "json", cwd=folder)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)  # type: ignore[no-any-return]


@pytest.mark.slow
def test_the_demo_tells_what_came_out(demo: tuple[Path, str]) -> None:
    folder, told = demo
    reads = {pattern.source: pattern.reads for pattern in patterns({})}
    listed = sum(file.key.endswith(reads[file.key.split("/")[0]]) for file in demo_store.files())
    for expected in (
        f"{listed} objects listed",
        "Quarantined",
        "truncated.json",
        *(name for name in CLASSES if name != "missing"),
        "cash_floor",
        "worldseq:att-optimist",
        *(example.title for example in EXAMPLES),
        "scorehouse sql",
    ):
        assert expected in told
    assert "cmp-planner-2026-09 under v1: pass\n" in told
    assert "cmp-pricing-2026-09 under v1: inconclusive (incomplete_inventory)\n" in told
    reports = [Path(line.strip()) for line in told.splitlines() if line.endswith(".html")]
    assert len(reports) == 2
    assert all(report.is_file() for report in reports)
    shown = told[told.index(EXAMPLES[0].title) : told.index("The registered campaigns")]
    assert max(map(len, shown.splitlines())) <= WIDTH
    counts = {
        row["class"]: row["n"] for row in ask(folder, "SELECT class, count(*) AS n FROM verifications GROUP BY ALL")
    }
    assert set(counts) == set(CLASSES) - {"missing"}


@pytest.mark.slow
def test_every_suggestion_works(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    queries = [line for line in demo[1].splitlines() if line.startswith('  scorehouse sql "')]
    assert len(queries) >= 3
    for line in queries:
        result = process("sql", line.partition('"')[2].rstrip('"'), cwd=folder)
        assert (result.returncode, len(result.stdout.splitlines()) > 1) == (0, True), line
    assert process("quarantine", "show", "broken/truncated.json", cwd=folder).returncode == 0


@pytest.mark.slow
def test_upstream_and_evidence_differ_only_where_the_store_says_so(demo: tuple[Path, str]) -> None:
    query = """
        SELECT DISTINCT if(attempt_id LIKE 'harbor:%', field, coalesce(attempt_id, run_id)) AS what
        FROM reconciliation WHERE NOT agrees ORDER BY ALL
    """
    assert [row["what"] for row in ask(demo[0], query)] == [
        "agentcompass:m-large/short-answers/q-7/1",
        "agentforge:eu-large-3",
        "agentforge:eu-small-3",
        "agentforge:refunds-1-1",
        "agentforge:vendors-1-1",
        "refunds-1",
        "reward:reward",
        "vendors-1",
        "worldseq:att-optimist",
        "worldseq:att-unknown-kind",
    ]


@pytest.mark.slow
def test_every_headline_is_what_the_store_plants(demo: tuple[Path, str]) -> None:
    counts = ("total", "evaluated", "error", "unavailable", "invalidated")
    rows = ask(
        demo[0],
        f"""SELECT run_id, benchmark, if(k > 1, metric || ' ' || reducer, metric) AS metric, k,
                   max(value) FILTER (policy = 'strict') AS strict,
                   max(value) FILTER (policy = 'scored_only') AS scored_only, max(policy) FILTER (headline) AS headline,
                   {", ".join(counts)}
            FROM benchmark_metrics_current WHERE scope = 'overall' AND reducer <> 'pass_unbiased'
            GROUP BY ALL HAVING bool_or(headline)""",  # noqa: S608 - names of the test's own
    )
    found = {
        (row["run_id"], row["benchmark"], row["metric"], row["k"]): (
            (row["strict"], row["scored_only"]),
            row["headline"],
            tuple(row[count] for count in counts),
        )
        for row in rows
    }
    assert {key: rest for key, (_values, *rest) in found.items()} == {
        key: rest for key, (_values, *rest) in FIGURES.items()
    }
    for key, (values, *_rest) in FIGURES.items():
        assert found[key][0] == pytest.approx(values, abs=1e-12), key


@pytest.mark.slow
def test_no_registered_attempt_is_forgotten(demo: tuple[Path, str]) -> None:
    rows = ask(demo[0], "SELECT * FROM run_totals_current")
    found = {}
    for row in rows:
        name = f"{row['run_id']}/{row['benchmark']}" if row["source"] == "agentcompass" else row["run_id"]
        found[name] = tuple(row[count] for count in ("registered", "present", "valid", "errors", "missing"))
    assert {name: found[name] for name in TOTALS} == TOTALS
    assert "mini-large/oracle" not in found


@pytest.mark.slow
def test_a_demo_leaves_other_stores_alone(tmp_path: Path) -> None:
    store = tmp_path / ".scorehouse/artifacts"
    store.mkdir(parents=True)
    (store / "mine.json").write_text("{}", encoding="utf-8")
    result = process("demo", cwd=tmp_path)
    assert result.returncode == 2
    assert "not a demo's" in result.stderr
    assert {path.name for path in (tmp_path / ".scorehouse").rglob("*")} == {"artifacts", "mine.json"}
