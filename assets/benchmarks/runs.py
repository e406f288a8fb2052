"""Which attempts are measured together, and what their run declares about it.

Here: the groups (a run, benchmark, agent and model on a landing day; null names are a group of their own), their
attempts in order, and the declarations of a run's own file. Not here: which metrics a group has (`measures`), and what
any of it comes to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from assets.attempts.evidence import KEY
from assets.rewards.harbor import reward_valid
from assets.rulesets.loader import RuleSet

GROUP = ["landed_on", "source", "run_id", "benchmark", "agent_name", "model_name"]
"""What figures are of; the columns `agent_name` and `model_name` may be null."""

RUN = ["landed_on", "source", "run_id"]
AGENTCOMPASS = ["agentcompass-0", "agentcompass-1"]
READ = (
    *("attempt_id", *GROUP, "format", "task_id", "attempt_index"),
    *("plan_k", "plan_strategy", "running", "status", "error", "exceptions"),
)
"""Observed columns that groups and attempts are made of."""

KEPT = ("present", "fatal", "category", "metrics")
"""Observed columns that attempts keep as they are."""

ORDER = ["group", "task_id", "attempt_index", "attempt_id"]
DECLARED = (
    "registered",
    "duplicates",
    "aggregation",
    "hierarchy",
    "score_key",
    "missing_score",
    "exclude_missing",
    "metric_contract",
    "revisions",
)


class Runs(NamedTuple):
    """What there is to measure.

    `attempts`: the observations that are not running, numbered by group, task and index; see `attempts`.
    `groups`: one row per group, running attempts included; see `groups`.
    `told`: one row per run that a file describes; see `told_runs`.
    """

    attempts: pl.DataFrame
    groups: pl.DataFrame
    told: pl.DataFrame


def runs(
    observations: pl.LazyFrame,
    benchmark_runs: pl.LazyFrame,
    rewards: pl.LazyFrame,
    rules: RuleSet,
    also: Sequence[str] = (),
) -> Runs:
    """The groups of these observations, and their attempts, with `also` these observed columns.

    Inputs are read here, and every later step computes its frame at once: all of them together are many small frames
    made of few large ones, and a plan of that takes longer to optimise than to carry out.
    """
    kept = (*KEPT, *also)
    names, members = numbered(observations.select(*READ, *kept).collect(engine="streaming"))
    told = told_runs(benchmark_runs.collect(engine="streaming"))
    staged = pl.col("reward_kind").is_in([rules.staged.kind, rules.staged.recorded_kind])
    worth = rewards.filter(staged).unique(KEY).select(*KEY, "reward").collect(engine="streaming")
    grouped = groups(names, members, told)
    return Runs(attempts(members.filter(~pl.col("running")), grouped, worth, rules, kept), grouped, told)


def numbered(observed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The names of the groups, numbered as `group` in the order of results, and the observations with that number.

    Rows of a group mostly stand together: the strings that name it are looked up once per stretch of rows.
    """
    rows = observed.with_columns(stretch=pl.struct(GROUP).rle_id())
    stretches = rows.select("stretch", *GROUP).filter(pl.col("stretch").is_first_distinct())
    names = stretches.select(GROUP).unique().sort(GROUP).with_row_index("group")
    known = stretches.join(names, on=GROUP, nulls_equal=True).select("stretch", "group")
    return names, rows.join(known, on="stretch", how="left").drop("stretch")


def groups(names: pl.DataFrame, members: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """One row per group, in order, with what its run declares.

    Columns: `group` and `GROUP`; `format` (of two generations of AgentCompass the later, of trials Harbor's); `rows`,
    its attempts that are not `running`, those that left nothing included; `k` and `strategy`, the run's own, else the
    plan's, else from the data; `mixed`, whether its tasks have different plans; `failed`, whether there is a fatal
    issue; `run` and the `DECLARED` of its file; `unseen`, registered attempts that have no row; `unplaced`, those of
    the run that may belong to any of its several groups.
    """
    ended, agentcompass = ~pl.col("running"), pl.col("source") == "agentcompass"
    plan_k, plan_strategy = pl.col("plan_k").filter(ended), pl.col("plan_strategy").filter(ended)
    found = members.group_by("group").agg(
        pl.col("running").sum().cast(pl.Int64),
        rows=ended.sum().cast(pl.Int64),
        earlier=pl.col("format").min(),
        later=pl.col("format").max(),
        index=pl.col("attempt_index").filter(ended).max(),
        plan_k=plan_k.max(),
        plan_strategy=plan_strategy.max(),
        failed=pl.col("fatal").filter(ended).any(),
        mixed=pl.any_horizontal(plan_k.min() != plan_k.max(), plan_strategy.min() != plan_strategy.max()),
    )
    counted = pl.when(agentcompass).then(pl.coalesce("index", 1)).when(pl.col("source") == "agentforge").then("rows")
    return (
        names.join(found, on="group")
        .pipe(with_declarations, told)
        .with_columns(
            format=pl.when(agentcompass).then("later").otherwise("earlier"),
            k=pl.coalesce("declared_k", "plan_k", counted),
            strategy=pl.coalesce("declared_strategy", "plan_strategy", pl.lit("avg")),
            mixed=agentcompass & pl.col("mixed").fill_null(value=False),
            aggregation=pl.when(~agentcompass)
            .then(pl.lit("micro"))
            .when(pl.col("hierarchy").is_not_null())
            .then(pl.lit("category_hierarchy"))
            .otherwise(pl.col("aggregation").fill_null("micro")),
        )
        .pipe(with_unseen)
        .sort("group")
    )


def with_declarations(found: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """The groups with what their run's file declares: the one of their benchmark, else the one of the whole run."""
    declarations = told.select(
        *(*RUN, "run", *DECLARED),
        subject="benchmark",
        declared_k="k",
        declared_strategy="strategy",
        declared_running="running",
    )
    chosen = (
        found.select("group", *RUN, "benchmark")
        .join(declarations, on=RUN)
        .filter(pl.col("subject").is_null() | (pl.col("subject") == pl.col("benchmark")))
        .sort("group", "subject", nulls_last=True)
        .unique("group", keep="first")
        .drop(*RUN, "benchmark", "subject")
    )
    return found.join(chosen, on="group", how="left")


def told_runs(benchmark_runs: pl.DataFrame) -> pl.DataFrame:
    """The runs that a file describes, numbered as `run`; of several files the one of the greatest uri declares."""
    subject = [*RUN, "benchmark"]
    return (
        benchmark_runs.sort("uri", descending=True)
        .group_by(subject)
        .agg(pl.exclude(subject).first(), revisions=revisions())
        .sort(subject)
        .with_row_index("run")
    )


def revisions() -> pl.Expr:
    """The revisions that files of a run name, in order."""
    return pl.col("revision").drop_nulls().unique().sort()


def with_unseen(found: pl.DataFrame) -> pl.DataFrame:
    """The groups with `unseen` and `unplaced`.

    What a job registered beyond the trials found in it belongs to its group where there is one; of several groups none
    can claim it. A job of staged trials registers as many attempts as its configuration says.
    """
    alone = pl.len().over("run") == 1
    beyond = (pl.col("registered") - pl.col("rows").sum().over("run") - pl.col("duplicates")).clip(0).fill_null(0)
    staged = (pl.col("k") - pl.col("rows")).clip(0)
    return found.with_columns(
        unseen=pl.when(pl.col("source") == "agentforge").then(staged).when(alone).then(beyond).otherwise(0),
        unplaced=pl.when(alone).then(0).otherwise(beyond),
        running=pl.col("running") + pl.when(alone).then("declared_running").fill_null(0),
    )


def attempts(
    ended: pl.DataFrame, groups: pl.DataFrame, worth: pl.DataFrame, rules: RuleSet, kept: Sequence[str]
) -> pl.DataFrame:
    """The attempts of the groups, numbered as `attempt` by group, task and index; their tasks are numbered as `task`.

    Columns beside those `kept`: `group` and its `format`; `index`, their number at their task, counted where none is
    recorded; `planned_k`, how many their task is to have; `k`, how many a task of their group is to have, and `first`,
    whether they are one of these; the `reward` of a staged trial; whether they are `valid`; and `error`, which a
    skipped attempt is not.
    """
    starts = pl.when(pl.col("task").diff().fill_null(1) > 0).then("attempt").forward_fill()
    index = pl.coalesce("attempt_index", (pl.col("attempt") - starts + 1).cast(pl.Int64))
    return (
        ended.join(groups.select("group", "k", "declared_k", group_format="format"), on="group", how="left")
        .join(worth, on=KEY, how="left")
        .select(
            *ORDER,
            *kept,
            "k",
            "reward",
            format="group_format",
            planned_k=pl.coalesce("declared_k", "plan_k", "k"),
            error=pl.col("error") & pl.col("status").ne_missing("skipped"),
            valid=valid(rules),
        )
        .sort(ORDER, nulls_last=True)
        .with_row_index("attempt")
        .with_columns(task=pl.struct("group", "task_id").rle_id())
        .with_columns(index=index, first=index <= pl.col("k"))
    )


def valid(rules: RuleSet) -> pl.Expr:
    """Whether an attempt has a score that counts."""
    scored = pl.col("metrics").list.eval(pl.element().struct.field("value").is_not_null()).list.any()
    return (
        pl.when(pl.col("format") == "harbor")
        .then(reward_valid(rules))
        .when(pl.col("format") == "agentforge")
        .then(pl.col("reward").is_not_null())
        .otherwise(scored & ~pl.col("fatal"))
    )
