"""Which of several documents tells of an attempt, and what becomes of the others.

Here: the order, declared once for frames and for SQL, and its application within a landing day. Across days each day
keeps its own winner; views apply the order there. Pure Polars on a small frame of candidates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from assets.contract import schema
from assets.landing.contract import Quarantine
from assets.vocabulary import SHAPES


class Criterion(NamedTuple):
    """A column to go by: the values from best to worst where they are listed, else the greatest (or least) first.

    Null is last, or where `null_as` stands.
    """

    column: str
    ranked: tuple[str, ...] = ()
    descending: bool = True
    null_as: bool | None = None


LISTED = Criterion("vanished", descending=False, null_as=False)
"""A document that is still listed goes before one that vanished, which may have been moved and corrected since."""

PRECEDENCE = (
    Criterion("shape", SHAPES),
    Criterion("finalized_at"),
    LISTED,
    Criterion("landed_on"),
    Criterion("last_modified"),
    Criterion("uri"),
)
"""Evidence is never superseded by a record of it, nor newer by older."""

SHAPES_OF_ONE = ("full", "finalizer", "harbor", "summary")
"""Shapes that tell of one attempt beside each other."""

MAIN_SHAPES = ("harbor", "trial")
"""Shapes of documents that side files may stand beside."""

SAME_ATTEMPT = ("source", "landed_on", "attempt_id")

NOTHING_VANISHED = pl.DataFrame(schema={"uri": pl.String(), "landed_on": pl.Date()})


class Resolution(NamedTuple):
    """What a day's candidates came to.

    winners: `document`, `vanished` and `identical_copies`, one row per attempt and day. recorded: `document` and
    `attempt_id` of every document whose recorded values are kept, under the attempt that they belong to (null for
    totals of a whole document). quarantine: the superseded, and side files without a main file.
    """

    winners: pl.DataFrame
    recorded: pl.DataFrame
    quarantine: pl.DataFrame


def order_by() -> str:
    """The order as an SQL `ORDER BY` list, best first."""
    return ", ".join(map(_in_sql, PRECEDENCE))


def resolve(
    candidates: pl.DataFrame,
    recorded_values: pl.DataFrame,
    side_files: pl.DataFrame,
    precedence: Sequence[Criterion] = PRECEDENCE,
    vanished: pl.DataFrame = NOTHING_VANISHED,
) -> Resolution:
    """The winner per attempt and landing day, by `precedence` on the candidates' columns and the `depth` of their path.

    `vanished` names the objects that are no longer listed.

    The others by what they add: of one shape and content, one stays; the winner counts the copies of all. Of the rest,
    one of the winner's shape, or with a recorded figure that is not the winner's, is superseded; all keep their
    recorded values.
    """
    ranked = flagged(candidates.lazy(), vanished).collect().pipe(_best_first, precedence)
    kept = ranked.unique([*SAME_ATTEMPT, "shape", "digest"], keep="first", maintain_order=True)
    copies = ranked.group_by(SAME_ATTEMPT).agg(
        identical_copies=pl.len().cast(pl.Int64) - pl.struct("shape", "digest").n_unique().cast(pl.Int64)
    )
    attempts = kept.filter(pl.col("attempt_id").is_not_null())
    winners = attempts.unique(SAME_ATTEMPT, keep="first", maintain_order=True)
    losers = attempts.join(winners, on="document", how="anti").join(
        winners.select(*SAME_ATTEMPT, winner="document", winner_shape="shape", winner_sha256="sha256"), on=SAME_ATTEMPT
    )
    attached = _attached(side_files, candidates)
    return Resolution(
        winners.join(copies, on=SAME_ATTEMPT).select("document", "vanished", "identical_copies"),
        pl.concat([kept.select("document", "attempt_id"), _with_main(attached).select("document", "attempt_id")]),
        pl.concat([_superseded(losers, recorded_values), _without_main(attached)]),
    )


def flagged(rows: pl.LazyFrame, vanished: pl.DataFrame) -> pl.LazyFrame:
    """The rows with `vanished`: whether their object is one of those that are no longer listed."""
    gone = vanished.lazy().with_columns(vanished=pl.lit(value=True))
    told = rows.join(gone, on=vanished.columns, how="left", maintain_order="left")
    return told.with_columns(pl.col("vanished").fill_null(value=False))


def across_days(attempts: pl.DataFrame) -> pl.DataFrame:
    """Of the rows of `attempts`, one per attempt: the winner of all its days, as the `_current` views choose."""
    numbered = attempts.with_row_index("document")
    return (
        numbered.pipe(_best_first, PRECEDENCE).unique("attempt_id", keep="first", maintain_order=True).drop("document")
    )


def enclosed(candidates: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The candidates that lie in no attempt's own directory, and the quarantine rows of the others.

    What an agent wrote beside its result may look like one.
    """
    directory = pl.col("uri").str.replace(r"/[^/]*$", "")
    # A result in the day's own folder, in no directory of its own, encloses nothing.
    of_day = pl.concat_str(pl.lit("/"), pl.col("landed_on").cast(pl.String))
    own = (
        candidates.filter(pl.col("shape") == "trial", ~directory.str.ends_with(of_day)).select(above=directory).unique()
    )
    parts = directory.str.split("/")
    ancestors = pl.int_ranges(1, parts.list.len())
    inside = (
        candidates.select("document", parts=parts, length=ancestors)
        .explode("length")
        .with_columns(above=pl.col("parts").list.head(pl.col("length")).list.join("/"))
        .join(own, on="above", how="semi")
        .select("document")
        .unique()
    )
    refused = candidates.join(inside, on="document", how="semi").unique("uri", keep="first", maintain_order=True)
    detail = pl.lit("inside of the directory of a trial: what was written there is no result")
    return (
        candidates.join(inside, on="document", how="anti", maintain_order="left"),
        refused.pipe(_quarantine, "decode", "unknown_shape", detail),
    )


def _best_first(candidates: pl.DataFrame, precedence: Sequence[Criterion]) -> pl.DataFrame:
    """In order; of documents within one object the last, so that the order is total."""
    descending = [*(one.descending for one in precedence), True]
    return (
        candidates.with_columns(depth=pl.col("uri").str.count_matches("/", literal=True))
        .sort(*map(_in_polars, precedence), "document", descending=descending, nulls_last=True)
        .drop("depth")
    )


def _in_polars(one: Criterion) -> pl.Expr:
    column = pl.col(one.column)
    if one.ranked:
        ranks = {value: -rank for rank, value in enumerate(one.ranked)}
        return column.replace_strict(ranks, return_dtype=pl.Int64)
    return column if one.null_as is None else column.fill_null(one.null_as)


def _in_sql(one: Criterion) -> str:
    if one.ranked:
        ranks = " ".join(f"WHEN {value!r} THEN {rank}" for rank, value in enumerate(one.ranked))
        return f"CASE {one.column} {ranks} END"
    column = one.column if one.null_as is None else f"COALESCE({one.column}, {one.null_as})"
    return f"{column} {'DESC' if one.descending else 'ASC'} NULLS LAST"


def _superseded(losers: pl.DataFrame, recorded_values: pl.DataFrame) -> pl.DataFrame:
    figures = recorded_values.unique(["document", "field"], keep="last", maintain_order=True).select(
        "document", "field", "value", "value_type", "text"
    )
    differing = (
        losers.select("document", "winner")
        .join(figures, on="document")
        .join(figures, left_on=["winner", "field"], right_on=["document", "field"], suffix="_won")
        .filter(
            ~pl.all_horizontal(
                pl.col(part).eq_missing(pl.col(f"{part}_won")) for part in ("value", "value_type", "text")
            )
        )
        .group_by("document")
        .agg(pl.col("field").min())
    )
    found = losers.join(differing, on="document", how="left", maintain_order="left")
    same_shape = pl.col("shape") == pl.col("winner_shape")
    # By its content, not its uri: the same store elsewhere has the same quarantine.
    winner = pl.format("the object with SHA-256 {}", "winner_sha256")
    detail = (
        pl.when(same_shape)
        .then(pl.format("another document of this shape takes precedence: {}", winner))
        .when(pl.col("field").is_null())
        .then(pl.format("a document of another format has this id and takes precedence: {}", winner))
        .otherwise(pl.format("recorded {} differs from that of {}", "field", winner))
    )
    # Evidence and its records tell of one attempt; of documents of other shapes one has taken another's id.
    unrelated = ~pl.col("shape").is_in(SHAPES_OF_ONE) | ~pl.col("winner_shape").is_in(SHAPES_OF_ONE)
    told = found.filter(same_shape | unrelated | pl.col("field").is_not_null())
    return told.pipe(_quarantine, "duplicate", "superseded", detail)


def _attached(side_files: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """Each side file with the attempt of the Harbor result beside it, and how many attempts are told of there."""
    beside = (
        candidates.filter(pl.col("shape").is_in(MAIN_SHAPES))
        .group_by("source", "landed_on", directory=pl.col("uri").str.replace(r"/[^/]*$", ""))
        .agg(pl.col("attempt_id").min(), attempts=pl.col("attempt_id").n_unique())
    )
    return side_files.join(beside, on=["source", "landed_on", "directory"], how="left", maintain_order="left")


def _with_main(attached: pl.DataFrame) -> pl.DataFrame:
    """Identical side files of one attempt, which lie beside identical results, count once."""
    return (
        attached.filter(pl.col("attempts") == 1)
        .sort("uri", "document", descending=True)
        .unique([*SAME_ATTEMPT, "sha256"], keep="first", maintain_order=True)
    )


def _without_main(attached: pl.DataFrame) -> pl.DataFrame:
    detail = (
        pl.when(pl.col("attempts").is_null())
        .then(pl.lit("a side file without a Harbor result beside it"))
        .otherwise(pl.lit("a side file beside Harbor results of several attempts"))
    )
    alone = attached.filter(pl.col("attempts").is_null() | (pl.col("attempts") > 1))
    return alone.with_columns(attempt_id=pl.lit(None, pl.String)).pipe(_quarantine, "decode", "unknown_shape", detail)


def _quarantine(documents: pl.DataFrame, stage: str, reason: str, detail: pl.Expr) -> pl.DataFrame:
    return documents.select(
        "uri",
        "source",
        "landed_on",
        stage=pl.lit(stage),
        reason=pl.lit(reason),
        path="path",
        detail=detail,
        sha256="sha256",
        attempt_id="attempt_id",
    ).select(*schema(Quarantine))
