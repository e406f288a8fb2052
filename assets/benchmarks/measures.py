"""Which metrics a group has, of which kind, which of them are primary, and which reducers they allow.

Here: one function per format, since each declares or shows its metrics in its own way. Not here: values (`scores`).
"""

from collections.abc import Callable, Mapping

import polars as pl

from assets.benchmarks.runs import GROUP, Runs
from assets.rewards.harbor import PRIMARY_KEY
from assets.rulesets.loader import RuleSet

OF_GROUP = (
    *("group", *GROUP, "format", "k", "strategy", "missing_score", "exclude_missing"),
    *("aggregation", "hierarchy", "unseen", "unplaced", "failed"),
)
"""What a measure, a metric of a group, knows of its group."""

COLUMNS = (*OF_GROUP, "metric", "entry", "binary", "primary", "averaged", "passing")
"""Columns of a measure.

`entry`: the name of its values among what attempts scored. `binary`: success or not, else a score. `primary`: its
figure may be the headline. `averaged` and `passing`: it may be averaged over attempts, and be passed in one of several.
"""

SCORING = ("attempt", "group", "task", "format", "index", "present", "first", "valid")
"""What a figure knows of the attempt that scored it."""


def entries(attempts: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """What identifies an attempt, and `name`, `value` and `boolean` of each figure that it scored, in its order.

    A staged trial scored its reward, and `passed` where that reaches the threshold.
    """
    members = attempts.select(*SCORING, "metrics", "reward")
    told = members.drop("reward").explode("metrics").unnest("metrics").filter(pl.col("name").is_not_null())
    threshold = rules.staged.pass_threshold
    passed = pl.col("reward") >= threshold - rules.comparison.slack * max(1.0, abs(threshold))
    staged = members.filter(pl.col("format") == "agentforge").drop("metrics")
    return pl.concat(
        [
            told,
            staged.select(pl.exclude("reward"), name=pl.lit("reward"), value="reward", boolean=pl.lit(value=False)),
            staged.select(
                pl.exclude("reward"), name=pl.lit("passed"), value=passed.cast(pl.Float64), boolean=pl.lit(value=True)
            ),
        ]
    )


def measures(runs: Runs, figures: pl.DataFrame) -> pl.DataFrame:
    """The metrics of each group that has attempts, by `COLUMNS`, in order and numbered as `measure`."""
    groups = runs.groups.filter(pl.col("rows") > 0, ~pl.col("mixed"))
    # Without any group every format makes the right columns, and no rows.
    occurring = set(groups["format"]) or {*OF_FORMAT}
    return (
        pl.concat(
            of(groups.filter(pl.col("format") == name), figures.filter(pl.col("format") == name)).select(COLUMNS)
            for name, of in OF_FORMAT.items()
            if name in occurring
        )
        .with_columns(passing=pl.col("passing") & pl.col("binary"))
        .sort("group", "metric")
        .with_row_index("measure")
    )


def second_generation(groups: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """Release 1.0: what the run's metric contract declares, else what occurs."""
    has_contract = pl.col("metric_contract").list.len().fill_null(0) > 0
    parts = [declared(groups.filter(has_contract)), shown(groups.filter(~has_contract), figures)]
    return pl.concat(part.select(COLUMNS) for part in parts)


def declared(groups: pl.DataFrame) -> pl.DataFrame:
    """What a metric contract declares; all metrics are primary where it names none."""
    reducers = pl.col("reducers")
    return (
        groups.explode("metric_contract")
        .unnest("metric_contract")
        .with_columns(
            metric="name",
            entry="name",
            binary=pl.col("kind") == "binary_success",
            primary=pl.col("primary") | ~pl.col("primary").any().over("group"),
            averaged=reducers.list.contains("avg").fill_null(value=True),
            passing=reducers.list.contains("pass").fill_null(value=True),
        )
    )


def shown(groups: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """The names that occur, else `correct`.

    What has only booleans is binary. `correct`, else `score`, else the first name is primary.
    """
    named = figures.group_by("group", metric="name").agg(
        binary=pl.col("boolean").filter(pl.col("value").is_not_null()).all()
    )
    rank = pl.col("metric").replace_strict({"correct": 0, "score": 1}, default=2, return_dtype=pl.Int64)
    return (
        groups.join(named, on="group", how="left")
        .with_columns(pl.col("metric").fill_null("correct"), pl.col("binary").fill_null(value=True))
        .with_columns(
            primary=pl.struct(rank.alias("rank"), "metric").rank("ordinal").over("group") == 1,
            entry="metric",
            averaged=pl.lit(value=True),
            passing=pl.lit(value=True),
        )
    )


def first_generation(groups: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """The first generation: `accuracy` and one score, whichever there are; `accuracy` where there is neither.

    The score is the one that the run declares, else `score` where an attempt has it.
    """
    seen = (
        figures.filter(pl.col("value").is_not_null())
        .group_by("group")
        .agg(correct=((pl.col("name") == "correct") & pl.col("boolean")).any(), score=(pl.col("name") == "score").any())
    )
    named = groups.join(seen, on="group", how="left").with_columns(
        score=pl.coalesce("score_key", pl.when("score").then(pl.lit("score")))
    )
    accuracy = constant(
        named.filter(pl.col("correct").fill_null(value=False) | pl.col("score").is_null()), "accuracy", binary=True
    ).with_columns(entry=pl.lit("correct"))
    score = constant(named.filter(pl.col("score").is_not_null()), "score", binary=False).with_columns(
        metric="score", entry="score"
    )
    # A declared score that is itself called `accuracy` is the one that was asked for.
    return pl.concat([score.select(COLUMNS), accuracy.select(COLUMNS)]).unique(
        ["group", "metric"], keep="first", maintain_order=True
    )


def reward_keys(groups: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """Harbor: the reward keys that occur, else `reward`; `reward`, else the only one, is declared primary.

    All are primary where none is; only a declared one whose valid rewards are all 0 or 1 is passed or not.
    """
    of_valid = pl.col("value").filter("valid")
    named = figures.group_by("group", metric="name").agg(binary=of_valid.is_in([0.0, 1.0]).all())
    name = pl.col("metric")
    chosen = (name == PRIMARY_KEY) | (pl.len().over("group") == 1)
    return (
        groups.join(named, on="group", how="left")
        .with_columns(name.fill_null(PRIMARY_KEY), pl.col("binary").fill_null(value=True))
        .with_columns(passing=chosen)
        .with_columns(
            entry="metric",
            primary=pl.col("passing") | ~pl.col("passing").any().over("group"),
            averaged=pl.lit(value=False),
        )
    )


def resolved(groups: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
    """The trials of a run's one file: `accuracy`."""
    return constant(groups, "accuracy", binary=True)


def staged(groups: pl.DataFrame, _: pl.DataFrame) -> pl.DataFrame:
    """Staged trials: `reward`, and `passed` where it reaches the threshold."""
    return pl.concat([constant(groups, "reward", binary=False), constant(groups, "passed", binary=True)])


def constant(groups: pl.DataFrame, metric: str, *, binary: bool) -> pl.DataFrame:
    """A primary metric that every group has."""
    true = pl.lit(value=True)
    return groups.with_columns(
        metric=pl.lit(metric),
        entry=pl.lit(metric),
        binary=pl.lit(binary),
        primary=true,
        averaged=true,
        passing=true,
    )


OF_FORMAT: Mapping[str, Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]] = {
    "agentcompass-1": second_generation,
    "agentcompass-0": first_generation,
    "harbor": reward_keys,
    "terminal-bench": resolved,
    "agentforge": staged,
}
"""From groups of one format, and the figures that their attempts scored, to `COLUMNS`. A score is never passed."""
