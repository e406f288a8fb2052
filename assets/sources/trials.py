"""What every benchmark source gives: one row per attempt at a task, and the tables that it is split into.

Here: the columns, the candidates, and the split into `observations` and `attempts`. Not here: any source's format.
"""

from collections.abc import Mapping

import polars as pl

from assets.attempts.contract import Attempts, Observations
from assets.contract import schema, table_name
from assets.sources.documents import CANDIDATES

OBSERVED: Mapping[str, pl.DataType] = {
    "document": pl.Int64(),
    **schema(Observations),
    "shape": pl.String(),
    "outcome": pl.String(),
    "failure_kind": pl.String(),
    "failure_message": pl.String(),
    "agent_version": pl.String(),
    "scenario_id": pl.String(),
    "last_modified": pl.Datetime("us", "UTC"),
    "path": pl.String(),
    "digest": pl.String(),
    "sha256": pl.String(),
}
"""Columns of an observed attempt.

Those of `observations`; the outcome, how it failed, and who ran it, for `attempts`; and what its candidate needs:
`path` inside the object (null: the whole object), `digest` of the attempt's own content, `sha256` of the object.
"""

COUNTS = ("unknown_answers", "unknown_evidence", "identical_copies")


def tables(observed: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """`observations` of every row, and `attempts` of those that were found and have ended, both behind `document`.

    Nothing of them is finalized: across days the later landing counts, as it does for figures of whole runs.
    """
    ended = observed.filter(pl.col("present") & ~pl.col("running"))
    known = set(observed.columns)
    nulls = {name: pl.lit(None, dtype) for name, dtype in schema(Attempts).items() if name not in known}
    attempts = ended.with_columns(
        **nulls
        | {name: pl.lit(0, pl.Int64) for name in COUNTS}
        | {
            "repeat": pl.col("attempt_index"),
            "has_evidence": pl.lit(value=False),
            "vanished": pl.lit(value=False),
        }
    )
    return {
        table_name(Observations): observed.select("document", *schema(Observations)),
        table_name(Attempts): attempts.select("document", *schema(Attempts)),
    }


def candidates(observed: pl.DataFrame) -> pl.DataFrame:
    """The candidates of these attempts; the end of an attempt orders it as a finalization does."""
    return observed.with_columns(finalized_at="finished_at").select(list(CANDIDATES))
