"""Predicates on questions whose conclusion is required: the conclusion itself, and a counterfactual's precondition.

Both stand apart from the numeric score. Each finding is over the questions of `answers.asked`, beside their graded
answers and `truth_groups`, or beside their branches and `trajectory.facts`.
"""

import polars as pl

from assets.assessments.answers import QUESTION, same_set
from assets.verification.findings import Finding, reasons

FAULT = reasons((pl.col("contract_fault"), "invalid_contract"))


def truth_groups(asked: pl.LazyFrame) -> pl.LazyFrame:
    """`QUESTION` and `truth_group`: the group that holds the truth of a categorical question, if it is known."""
    sound = (pl.col("kind") == "categorical") & ~pl.col("contract_fault")
    return (
        asked.select(QUESTION, "truth", truth_group=pl.when(sound).then("equivalence_groups"))
        .explode("truth_group", empty_as_null=False, keep_nulls=False)
        .filter(pl.col("truth_group").list.contains(pl.col("truth")) & pl.col("truth").is_not_null())
        .select(QUESTION, "truth_group")
    )


def required_conclusion() -> Finding:
    """The graded answer concludes exactly the supported set, and calls it unresolved exactly if it has several members.

    Supported is the group that holds the truth, or the supported effects.
    A malformed probability or prediction of that answer neither excuses nor fails its conclusion.
    """
    kind, given = pl.col("kind_of_question"), pl.col("conclusion")
    expected = (
        pl.when(kind == "categorical").then("truth_group").when(kind == "counterfactual").then("supported_conclusion")
    )
    same = same_set(given, expected).fill_null(value=False)
    frank = (pl.col("unresolved") == (expected.list.n_unique() > 1)).fill_null(value=False)
    known = expected.is_not_null()
    return Finding(
        fault=FAULT,
        breach=reasons(
            (~pl.col("answered").fill_null(value=False), "answer_missing"),
            (known & ~(same & frank), "conclusion_differs"),
        ),
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
