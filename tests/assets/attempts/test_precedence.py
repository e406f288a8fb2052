"""Which document wins, what becomes of the others, and that SQL orders alike."""

import datetime as dt
from typing import Any

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.attempts.precedence import PRECEDENCE, Resolution, across_days, order_by, resolve
from assets.contract import schema
from assets.landing.contract import Quarantine
from assets.sources import worldseq
from assets.sources.documents import Decoded, Document, Limits
from tests.assets.sources.worldseq_documents import (
    CASE,
    DAY,
    FINALIZER,
    FULL,
    HARBOR,
    MODIFIED,
    REWARD,
    as_bytes,
    changed,
    document,
    named,
    only,
)

LATER = MODIFIED + dt.timedelta(hours=1)
SUMMARY = {"cases": [CASE]}


def resolved(*documents: Document) -> tuple[Decoded, Resolution]:
    decoded = worldseq.decode(documents, Limits())
    return decoded, resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files)


def winner(*documents: Document) -> tuple[str, int]:
    """The winner's file name, and how many identical copies of it there are."""
    decoded, resolution = resolved(*documents)
    row = only(resolution.winners.join(decoded.candidates, on="document"))
    return row["uri"].rpartition("/")[2], row["identical_copies"]


def superseded(*documents: Document) -> list[tuple[str, str]]:
    """File names and details of the superseded."""
    frame = resolved(*documents)[1].quarantine
    assert frame.select("stage", "reason").unique().rows() in ([], [("duplicate", "superseded")])
    return sorted((uri.rpartition("/")[2], detail) for uri, detail in frame.select("uri", "detail").iter_rows())


def finalized(time: str | None, base: dict[str, Any] = FULL) -> dict[str, Any]:
    return changed("finalization.finalizedAt", time, base)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (document(finalized(None), "a.json"), document(FINALIZER, "b.json", LATER)),
        (document(finalized(None, FINALIZER), "a.json"), document(HARBOR, "b.json", LATER)),
        (document(finalized(None, HARBOR), "a.json"), document(SUMMARY, "b.json", LATER)),
        (document(finalized("2026-11-29T02:00:00Z"), "a.json"), document(FULL, "b.json", LATER)),
        (document(FULL, "a.json"), document(finalized(None), "b.json", LATER)),
        (document(FULL, "a.json", LATER), document(changed("note", 1), "b.json")),
        (document(FULL, "b.json"), document(changed("note", 1), "a.json")),
        (document(FULL, "é.json"), document(changed("note", 1), "z.json")),
    ],
)
def test_the_order(better: Document, worse: Document) -> None:
    name = better.uri.rpartition("/")[2]
    assert winner(better, worse)[0] == name
    assert winner(worse, better)[0] == name


@pytest.mark.parametrize(
    ("listed", "gone", "wins"),
    [
        (document(FULL, "a.json"), document(changed("note", 1), "b.json", LATER), True),
        (document(FULL, "a.json"), document(FULL, "b.json", LATER), True),  # of copies the one that is there
        (document(FINALIZER, "a.json"), document(FULL, "b.json"), False),  # evidence is kept
        (document(FULL, "a.json"), document(finalized("2026-11-29T02:00:00Z"), "b.json"), False),
    ],
)
def test_one_that_is_listed_goes_before_one_that_vanished(listed: Document, gone: Document, wins: bool) -> None:
    decoded, _ = resolved(listed, gone)
    places = pl.DataFrame({"uri": [gone.uri], "landed_on": [gone.landed_on]})
    figures = decoded.frames["recorded_values"]
    for flagged in (places, places.clear()):
        row = only(resolve(decoded.candidates, figures, decoded.side_files, vanished=flagged).winners)
        won = decoded.candidates.filter(document=row["document"])["uri"].item()
        there = flagged.is_empty() or wins
        assert (won == listed.uri) == (wins and not flagged.is_empty())
        assert row["vanished"] is not there


def test_across_days_one_that_is_listed_goes_before_a_later_one_that_vanished() -> None:
    next_day = DAY + dt.timedelta(days=1)
    decoded, _ = resolved(document(FULL), document(changed("note", 1), landed_on=next_day))
    rows = decoded.frames["attempts"].drop("document").sort("landed_on")
    for flags, day in (
        ([False, True], DAY),
        ([None, True], DAY),
        ([False, None], next_day),
        ([None, False], next_day),
        ([True, True], next_day),
    ):
        flagged = rows.with_columns(vanished=pl.Series(flags, dtype=pl.Boolean))
        assert across_days(flagged)["landed_on"].to_list() == [day]


def test_of_one_object_the_last_document_wins() -> None:
    decoded, resolution = resolved(document({"cases": [CASE, changed("attempt.repeat", 2, CASE)]}))
    row = only(resolution.winners.join(decoded.frames["attempts"], on="document"))
    assert row["repeat"] == 2
    assert only(resolution.quarantine)["path"] == "$.cases[0]"


def test_of_several_lines_with_several_documents_the_last_document_wins() -> None:
    again = {"cases": [changed("attempt.repeat", 2, CASE)]}
    decoded, resolution = resolved(document(as_bytes({"cases": [5, CASE]}) + b"\n" + as_bytes(again), "a.jsonl"))
    row = only(resolution.winners.join(decoded.frames["attempts"], on="document"))
    assert row["repeat"] == 2
    assert only(resolution.quarantine)["path"] == "line 1: $.cases[1]"
    assert only(decoded.quarantine)["path"] == "line 1: $.cases[0]"


def test_an_identical_copy_leaves_nothing_but_a_count() -> None:
    documents = [document(FULL, f"{number}.json") for number in range(3)]
    decoded, resolution = resolved(*documents, document(named("other"), "other.json"))
    assert sorted(resolution.winners["identical_copies"]) == [0, 2]
    assert resolution.quarantine.is_empty()
    assert resolution.recorded.height == 2
    assert winner(*documents) == ("2.json", 2)
    assert decoded.frames["attempts"].height == 4


def test_copies_of_losers_count_too() -> None:
    other = changed("attempt.repeat", 2, CASE)
    assert winner(document({"cases": [CASE, CASE, CASE, other]})) == ("a.json", 2)
    assert winner(
        document(FULL, "a.json"), document(FULL, "b.json"), *(document(FINALIZER, f"{name}.json") for name in "cde")
    ) == ("b.json", 3)


def test_lines_that_end_otherwise_are_copies_all_the_same() -> None:
    line = as_bytes(FULL)
    lines = document(line + b"\r\n" + line + b" \n" + line, "a.jsonl")
    assert winner(lines) == ("a.jsonl", 2)
    assert superseded(lines) == []


def test_another_content_of_the_winners_shape_is_superseded() -> None:
    first, second = document(FULL, "a.json"), document(changed("note", 1), "b.json")
    assert superseded(first, second) == [
        ("a.json", f"another document of this shape takes precedence: the object with SHA-256 {second.sha256}")
    ]
    copy = document(FULL, "aa.json")
    assert [name for name, _ in superseded(first, second, copy)] == ["aa.json"]


def test_a_record_that_agrees_stays_as_recorded_values_only() -> None:
    documents = [document(one, f"{number}.json") for number, one in enumerate((FULL, FINALIZER, HARBOR, SUMMARY))]
    decoded, resolution = resolved(*documents)
    assert resolution.winners.height == 1
    assert resolution.quarantine.is_empty()
    kept = resolution.recorded.join(decoded.candidates, on="document")
    assert sorted(kept["shape"]) == ["finalizer", "full", "harbor", "summary", "summary"]


@pytest.mark.parametrize(
    ("path", "value", "figure"),
    [
        ("verification.primaryValue", 250_001, "primary_value"),
        ("verification.primaryValue", None, "primary_value"),
        ("verification.eligible", False, "eligible"),
        ("verification.eligible", 1, "eligible"),
        ("verification.primaryMetric", "net_cash", "primary_metric"),
        ("verification.assessments.0.score", 0.5, "score:q-cause"),
    ],
)
def test_a_record_that_differs_in_a_shared_figure_is_superseded(path: str, value: Any, figure: str) -> None:
    documents = document(FULL, "a.json"), document(changed(path, value, FINALIZER), "b.json")
    assert superseded(*documents) == [
        ("b.json", f"recorded {figure} differs from that of the object with SHA-256 {documents[0].sha256}")
    ]
    assert resolved(*documents)[1].recorded.height == 2


def test_a_figure_that_only_one_of_them_has_is_not_shared() -> None:
    more = changed("verification.constraints", [{"id": "new", "satisfied": False}], FINALIZER)
    assert superseded(document(FULL, "a.json"), document(more, "b.json")) == []
    assert superseded(document(changed("verification", None), "a.json"), document(FINALIZER, "b.json")) == []


def test_each_day_keeps_its_own_winner() -> None:
    next_day = DAY + dt.timedelta(days=1)
    resolution = resolved(document(FULL), document(changed("note", 1), landed_on=next_day))[1]
    assert resolution.winners.height == 2
    assert resolution.quarantine.is_empty()


def test_a_side_file_belongs_to_the_result_beside_it() -> None:
    decoded, resolution = resolved(
        document(HARBOR, "x/result.json"),
        document(REWARD, "x/reward.json"),
        document(named("y", HARBOR), "y/result.json"),
    )
    side = only(resolution.recorded.join(decoded.side_files, on="document"))
    assert (side["attempt_id"], side["uri"][-13:]) == ("worldseq:att-1", "x/reward.json")
    assert resolution.quarantine.is_empty()


def test_identical_side_files_of_copied_results_count_once() -> None:
    decoded, resolution = resolved(
        *(
            document(one, f"{job}/{name}")
            for job in "xy"
            for one, name in ((HARBOR, "result.json"), (REWARD, "reward.json"))
        )
    )
    assert resolution.recorded.join(decoded.side_files, on="document").height == 1
    assert resolution.winners["identical_copies"].to_list() == [1]


@pytest.mark.parametrize(
    "main", [[], [FINALIZER], [HARBOR, named("other", HARBOR)]], ids=["none", "another shape", "two attempts"]
)
def test_a_side_file_without_its_main_file(main: list[Any]) -> None:
    beside = [document(one, f"x/{number}.json") for number, one in enumerate(main)]
    quarantined = only(resolved(*beside, document(REWARD, "x/reward.json"))[1].quarantine)
    assert (quarantined["stage"], quarantined["reason"]) == ("decode", "unknown_shape")
    assert quarantined["uri"].endswith("x/reward.json")
    assert quarantined["attempt_id"] is None


def test_nothing_comes_of_nothing() -> None:
    resolution = resolved()[1]
    assert (resolution.winners.height, resolution.recorded.height) == (0, 0)
    assert dict(resolution.quarantine.schema) == schema(Quarantine)


def test_sql_orders_alike() -> None:
    contents = [
        (one, modified)
        for base in (FULL, FINALIZER, HARBOR)
        for one in (
            finalized(None, base),
            finalized("2026-11-29T02:00:00Z", base),
            finalized("2026-11-29T03:00:00Z", base),
        )
        for modified in (MODIFIED, LATER)
    ]
    documents = [
        document(one, f"{number % 5}-é{number}.json", modified) for number, (one, modified) in enumerate(contents)
    ]
    candidates = worldseq.decode(documents, Limits()).candidates
    vanished = candidates.filter(pl.col("document") % 3 == 0).select("uri", "landed_on")
    gone = pl.col("uri").is_in(vanished["uri"].implode())
    # A row from before it was told whether it vanished is as one that did not.
    flagged = candidates.with_columns(vanished=pl.when(gone).then(True).when(pl.col("document") % 3 == 1).then(False))
    in_sql = duckdb.from_arrow(flagged.to_arrow()).order(order_by()).pl()
    one_by_one = [int(document) for document in _by_repeated_resolution(candidates, vanished)]
    assert in_sql["document"].to_list() == one_by_one
    assert [criterion.column for criterion in PRECEDENCE] == [
        "shape",
        "finalized_at",
        "vanished",
        "landed_on",
        "last_modified",
        "uri",
    ]


def _by_repeated_resolution(candidates: pl.DataFrame, vanished: pl.DataFrame) -> list[int]:
    """The documents from best to worst: the winner, then the winner of the others, and so on."""
    no_figures = pl.DataFrame(
        schema={
            "document": pl.Int64,
            "field": pl.String,
            "value": pl.Float64,
            "value_type": pl.String,
            "text": pl.String,
        }
    )
    no_files = worldseq.decode([], Limits()).side_files
    order = []
    while not candidates.is_empty():
        best = resolve(candidates, no_figures, no_files, vanished=vanished).winners["document"].item()
        order.append(best)
        candidates = candidates.filter(pl.col("document") != best)
    return order


def test_the_order_of_arrival_does_not_matter() -> None:
    documents = [
        document(FULL, "a.json"),
        document(changed("note", 1), "b.json"),
        document(FULL, "c.json"),
        document(changed("verification.eligible", False, FINALIZER), "d.json"),
    ]
    forth, back = resolved(*documents)[1], resolved(*reversed(documents))[1]
    assert_frame_equal(forth.quarantine, back.quarantine, check_row_order=False)
    assert forth.winners["identical_copies"].to_list() == back.winners["identical_copies"].to_list() == [1]
