"""Predicates on questions whose conclusion is required: the conclusion itself, and a counterfactual's precondition.

Both stand apart from the numeric score. Each finding stands over the questions of `answers.asked` beside
their graded answers, `supported`, branches and `trajectory.facts`.
"""

import polars as pl

from assets.assessments.answers import QUESTION, same_set
from assets.verification.findings import Finding, reasons

FAULT = reasons((pl.col("contract_fault"), "invalid_contract"))


def supported(asked: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION` and `supported`: the group that holds the truth, or the supported effects; none without evidence."""
    categorical = (
        asked.filter(pl.col("kind") == "categorical", ~pl.col("contract_fault"), pl.col("truth").is_not_null())
        .select(QUESTION, "truth", supported="equivalence_groups")
        .explode("supported")
        .filter(pl.col("supported").list.contains(pl.col("truth")))
        .select(QUESTION, "supported")
    )
    effects = asked.filter(pl.col("kind") == "counterfactual").select(QUESTION, supported="supported_conclusion")
    return pl.concat([categorical, effects])


def required_conclusion() -> Finding:
    """The graded answer concludes exactly the supported set, and calls it unresolved exactly where it has several members.

    A malformed probability or prediction of that answer neither excuses nor fails its conclusion.
    """
    expected, given = pl.col("supported"), pl.col("conclusion")
    same = same_set(given, expected).fill_null(value=False)
    frank = (pl.col("unresolved") == (expected.list.n_unique() > 1)).fill_null(value=False)
    known = expected.is_not_null()
    return Finding(
        fault=FAULT,
        breach=reasons((~pl.col("answered").fill_null(value=False), "answer_missing"), (known & ~(same & frank), "conclusion_differs")),
        gap=reasons((~known, "evidence_missing")),
    )


def execution_precondition() -> Finding:
    """The intervention could be carried out: the action was there, the checkpoint was reached, both branches are sound.

    What the player caused fails; missing evidence is never turned into a failure. Observed: the last day, against the
    checkpoint.
    """
    names_action, state = pl.col("one_shot_action").is_not_null(), pl.col("action_state")
    last_day, checkpoint = pl.col("last_day"), pl.col("checkpoint_day")
    known_state = state.is_in(["available", "cancelled"]).fill_null(value=False)
    return Finding(
        fault=FAULT,
        breach=reasons(
            (names_action & (state == "reserved"), "action_reserved"),
            (names_action & (state == "consumed"), "action_consumed"),
            (last_day < checkpoint, "ended_before_checkpoint"),
        ),
        gap=pl.coalesce(
            reasons((last_day.is_null(), "no_trajectory"), (names_action & ~known_state, "action_unknown")),
            "branch_fault",
        ),
        observed=last_day,
        limit=checkpoint,
    )
