"""Volume: worked examples of what is unusual, and the decision against plain Python on random counts."""

import datetime as dt
import statistics
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.attempts.contract import Attempts
from assets.landing.contract import RawArtifacts
from pipelines.storage.tables import Tables
from pipelines.volume import told, unusual
from tests.pipelines.cli.warehouse import DAY_1, arrival, attempt, store

DAY = dt.date(2026, 11, 30)
Counts = dict[tuple[int, str], int]  # days before DAY, source


def frame(counts: Counts) -> pl.DataFrame:
    schema = {"day": pl.Date(), "source": pl.String(), "count": pl.Int64()}
    rows = [(DAY - dt.timedelta(days=back), source, count) for (back, source), count in counts.items()]
    return pl.DataFrame(rows, schema=schema, orient="row")


def usual(days: range, count: int = 10) -> Counts:
    return {(back, "harbor"): count for back in days}


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        (usual(range(1, 6)) | {(0, "harbor"): 5}, []),
        (usual(range(1, 6)) | {(0, "harbor"): 4}, [(4, 10.0)]),
        (usual(range(1, 6)) | {(0, "harbor"): 20}, []),
        (usual(range(1, 6)) | {(0, "harbor"): 21}, [(21, 10.0)]),
        (usual(range(1, 5)) | {(0, "harbor"): 1000}, []),
        (usual(range(10, 15)) | {(0, "harbor"): 1}, [(1, 10.0)]),
        (usual(range(11, 16)) | {(0, "harbor"): 1}, []),
        (usual(range(1, 8)), []),
        (usual(range(1, 9)), [(0, 10.0)]),
        (usual(range(1, 6)) | {(0, "agentforge"): 1}, []),
        ({}, []),
    ],
    ids=[
        "half",
        "below half",
        "double",
        "above double",
        "four days tell nothing",
        "five days, the last of the window",
        "one of them before the window",
        "nothing after half of the days",
        "nothing after most of the days",
        "a new source",
        "no day at all",
    ],
)
def test_what_is_unusual(counts: Counts, found: list[tuple[int, float]]) -> None:
    assert [(one.came, one.median) for one in unusual(frame(counts), [DAY])] == found


def test_only_the_asked_days_are_judged() -> None:
    counts = usual(range(1, 9)) | {(0, "harbor"): 1}
    assert unusual(frame(counts), [DAY - dt.timedelta(days=1)]) == []
    assert unusual(frame(counts), []) == []


counted = st.dictionaries(
    st.tuples(st.integers(0, 20), st.sampled_from(["harbor", "worldseq"])), st.integers(1, 40), max_size=42
)


@given(counted, st.sets(st.integers(0, 8), max_size=4))
def test_it_is_what_plain_python_says(counts: Counts, asked: set[int]) -> None:
    expected = []
    for back in sorted(asked, reverse=True):
        for source in ("harbor", "worldseq"):
            before = [counts[back + n, source] for n in range(1, 15) if (back + n, source) in counts]
            came = counts.get((back, source), 0)
            if came == 0:
                wrong = len(before) > 7
            else:
                wrong = len(before) >= 5 and not statistics.median(before) / 2 <= came <= 2 * statistics.median(before)
            if wrong:
                expected.append((DAY - dt.timedelta(days=back), source, came, statistics.median(before)))
    assert unusual(frame(counts), [DAY - dt.timedelta(days=back) for back in asked]) == expected


def test_attempts_and_documents_are_counted_once_and_told_apart(tmp_path: Path) -> None:
    tables = Tables(str(tmp_path))
    days = [DAY_1 + dt.timedelta(days=after) for after in range(6)]
    for day in days[:5]:
        store(tables, Attempts, *(attempt(f"worldseq:{day}-{number}", day) for number in range(2)))
        store(
            tables,
            RawArtifacts,
            *(
                arrival(f"/{day}/{number}.json", b"{}", landed_on=day, batch=batch)
                for number, batch in enumerate("abc")
            ),
            arrival(f"/{day}/0.json", b"{}", landed_on=day, batch="d", etag="2"),
            arrival(f"/{day}/gone.json", None, landed_on=day, batch="e", vanished=True),
            arrival(f"/{day}/pack.json", b"{}", landed_on=day, batch="f", source="agentforge-packs"),
        )
    store(tables, Attempts, attempt("worldseq:more", days[5]), attempt("worldseq:most", days[5]))
    store(tables, RawArtifacts, arrival("/more.json", b"{}", landed_on=days[5]))
    assert list(told(tables, days)) == [(days[5], "worldseq: 1 documents, where 3 are usual")]
    assert list(told(tables, [])) == []
