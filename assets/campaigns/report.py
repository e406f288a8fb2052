"""The report of a comparison: one self-contained HTML file, without scripts and without a request to anywhere.

Here: which rows of the comparison's tables a report shows, and in which order. Not here: sentences (`wording`), places
in pictures (`charts`), markup (`report.html`). What the template prints passes `shown`: text is escaped and inert, and
null reads "no value", never 0.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import polars as pl
from jinja2 import Environment, StrictUndefined, Template

from assets.campaigns import charts, wording
from assets.campaigns.comparison import Compared
from assets.campaigns.contract import CASE
from assets.campaigns.registration import Registration

MAX_COMPANIES = 60
MAX_CHANGED = 10
MAX_LISTED = 200

ARMS = ("baseline", "treatment")
WATERFALL = {
    "registered": "every case of the inventory",
    "missing": "no artifact",
    "infrastructure_failure": "the machinery failed",
    "agent_failure": "the agent failed",
    "inconclusive": "the evidence does not decide",
    "ineligible": "verified; some predicate failed",
    "eligible": "verified; every predicate passed",
}

Row = Mapping[str, Any]


class Listed(NamedTuple):
    """Rows of a table that is cut off after some, and how many there are in all."""

    rows: list[dict[str, Any]]
    total: int


class Counted(NamedTuple):
    """Something counted in each of the arms."""

    name: str
    about: str | None
    arms: tuple[charts.Bar, ...]


def report(
    compared: Compared,
    registration: Registration,
    failed_predicates: pl.DataFrame,
    unregistered: pl.DataFrame,
    primary_unit: str | None = None,
) -> str:
    """The HTML of a comparison. The same input gives the same bytes.

    Args:
        compared: the pairs, effects and the one row of the comparison, as their contracts declare them.
        registration: what was registered.
        failed_predicates: `arm` (an arm's id), `kind`, `predicate_id` and `attempts`: how many registered attempts of
            the arm fail that predicate.
        unregistered: `attempt_id`, `arm_id` and the case of attempts that are outside of the registration.
        primary_unit: unit of `primaryValue`, where that is compared.
    """
    comparison = compared.comparison.row(0, named=True)
    numeric = all(comparison[name] is not None for name in ("effect", "ci_low", "ci_high"))
    changed = compared.pairs.filter(pl.col("effect").is_not_null())
    measured = wording.metric(comparison["metric"], comparison["direction"], primary_unit)
    estimates = [comparison[name] for name in ("effect", "ci_low", "ci_high", "t_low", "t_high", "std_error", "mde")]
    return _template().render(
        comparison=comparison,
        registration=registration,
        metric=measured,
        claim=wording.claim(comparison, measured.after),
        verdict=wording.verdict(comparison, measured.after),
        reasons=wording.reasons(comparison),
        numeric=numeric,
        places=wording.decimals(estimates),
        effect_places=wording.decimals(compared.effects["effect"]),
        value_places=wording.decimals([*changed["baseline_value"], *changed["treatment_value"], *changed["effect"]]),
        interval=charts.interval(comparison) if numeric else None,
        forest=charts.forest(compared.effects, comparison, MAX_COMPANIES) if numeric else None,
        outcomes=_outcomes(comparison) if numeric else None,
        waterfall=charts.waterfall([comparison[f"{arm}_classes"] for arm in ARMS], WATERFALL),
        failed=_failed(failed_predicates, comparison),
        without_value=_without_value(compared.pairs),
        undecided_pairs=_undecided_pairs(compared.pairs),
        improved=_most(changed.filter(pl.col("effect") > 0)),
        worsened=_most(changed.filter(pl.col("effect") < 0)),
        unregistered=_listed(unregistered.sort(*CASE, "arm_id", "attempt_id", nulls_last=True)),
    )


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        number=wording.number, exactly=wording.exactly, percent=wording.percent, count=wording.count
    )
    return environment.from_string(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))


def shown(value: object) -> object:
    """A value as the template prints it: markup of the template as it is, text inert, counts with separators."""
    if value is None:
        return wording.NO_VALUE
    if hasattr(value, "__html__"):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return wording.inert(str(value))


def _outcomes(comparison: Row) -> list[tuple[str, int, charts.Segment]]:
    """Wins, ties and losses with their parts of one bar."""
    names = ("wins", "ties", "losses")
    counts = [comparison[name] for name in names]
    return list(zip(names, counts, charts.shares(counts), strict=True))


def _failed(predicates: pl.DataFrame, comparison: Row) -> list[Counted]:
    """The failed predicates of both arms, most attempts first."""
    return _counted(
        predicates.select(
            pl.col("predicate_id").alias("name"),
            pl.col("kind").alias("about"),
            *((pl.col("attempts") * (pl.col("arm") == comparison[f"{arm}_arm"])).alias(arm) for arm in ARMS),
        )
    )


def _without_value(pairs: pl.DataFrame) -> list[Counted]:
    """Why sides of pairs have no value: class and reason, most sides first."""
    sides = [
        pairs.filter(pl.col(f"{arm}_value").is_null()).select(
            pl.col(f"{arm}_class").alias("name"),
            pl.col(f"{arm}_reason").alias("about"),
            *(pl.lit(int(arm == of), pl.Int64).alias(of) for of in ARMS),
        )
        for arm in ARMS
    ]
    return _counted(pl.concat(sides))


def _counted(rows: pl.DataFrame) -> list[Counted]:
    ranked = (
        rows.group_by("name", "about")
        .agg(pl.col(*ARMS).sum())
        .sort(-pl.sum_horizontal(ARMS), "about", "name", nulls_last=True)
    )
    counts = ranked.select(ARMS).rows()
    return [
        Counted(name, about, arms)
        for (name, about), arms in zip(ranked.select("name", "about").iter_rows(), charts.bars(counts), strict=True)
    ]


def _undecided_pairs(pairs: pl.DataFrame) -> Listed:
    """Pairs with a side that has no value, in order of key."""
    missing = pl.any_horizontal(pl.col(f"{arm}_value").is_null() for arm in ARMS)
    return _listed(pairs.filter(missing).sort(*CASE))


def _most(pairs: pl.DataFrame) -> Listed:
    """The pairs whose effect is furthest from zero, equal ones in order of key."""
    return _listed(pairs.sort(-pl.col("effect").abs(), *CASE), MAX_CHANGED)


def _listed(rows: pl.DataFrame, limit: int = MAX_LISTED) -> Listed:
    return Listed(rows.head(limit).to_dicts(), rows.height)
