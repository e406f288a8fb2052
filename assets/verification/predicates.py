"""`predicate_results`: what every applicable predicate of every scored attempt found.

Here: which predicates apply, the evidence beside each, and their order. Not here: the kinds themselves, which are in
`money`, `windows`, `agreements`, `budgets` and `conclusions`, and what evidence makes of them (`findings`).
"""

import polars as pl

from assets.assessments.answers import graded
from assets.assessments.evidence import KEY, ROW, of, scored
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet
from assets.verification import agreements as agreement_log
from assets.verification import budgets, conclusions, money, trajectory, windows
from assets.verification.contract import PredicateResults
from assets.verification.findings import OBSERVATIONS, Finding, by_kind, judged, reasons
from assets.verification.trajectory import PREDICATE

MONEY_KINDS = ("spending_budget", "cash_floor", "cash_bounds", "price_bounds")
UNKNOWN_KIND = Finding(fault=reasons((pl.lit(value=True), "unknown_kind")))


def predicate_results(  # noqa: PLR0913 - one argument per table that it reads
    attempts: pl.LazyFrame,
    trajectory_days: pl.LazyFrame,
    task_predicates: pl.LazyFrame,
    agreements: pl.LazyFrame,
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    branches: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per applicable predicate of a completed attempt with evidence, as `PredicateResults` declares it.

    Order within an attempt: constraints as declared, a gameplay budget that none of them declares, the token budget,
    objectives as declared, required conclusions and then execution preconditions in order of the questions.
    """
    numbered = scored(attempts)
    days, declared = of(numbered, trajectory_days), of(numbered, task_predicates)
    facts = trajectory.facts(days)
    asked = graded(numbered, questions, answers, branches)
    parts = [
        constraints(numbered, days, facts, declared, of(numbered, agreements), rules),
        token_budgets(numbered, rules),
        objectives(days, facts, declared),
        required_conclusions(asked),
        execution_preconditions(asked, facts),
    ]
    return (
        pl.concat([part.with_columns(part=pl.lit(number)) for number, part in enumerate(parts)])
        .join(numbered.select(ROW, *KEY), on=ROW)
        .sort(ROW, "part", "position")
        .with_columns(rules=pl.lit(rules.id))
        .pipe(to_contract, PredicateResults)
    )


def constraints(  # noqa: PLR0913 - one argument per kind of evidence
    numbered: pl.LazyFrame,
    days: pl.LazyFrame,
    facts: pl.LazyFrame,
    declared: pl.LazyFrame,
    agreements: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """The declared constraints, and the gameplay budget of attempts whose task declares none."""
    rows = declared.filter(pl.col("part") == "constraints")
    of_kind = {kind: rows.filter(pl.col("kind") == kind) for kind in ("gameplay_budget", "agreement", "growth")}
    implicit = numbered.select(
        ROW,
        # After every declared constraint of any task.
        position=pl.lit(2**62, pl.Int64),
        predicate_id=pl.lit("gameplay_budget"),
        kind=pl.lit("gameplay_budget"),
    ).join(of_kind["gameplay_budget"], on=ROW, how="anti")
    usage = numbered.select(
        ROW, "horizon_days", **{used: pl.col(name) for name, used in budgets.USED.items()}
    )
    evident = (
        pl.concat([rows, implicit], how="diagonal")
        .join(usage, on=ROW)
        .join(facts, on=ROW, how="left")
        .join(agreement_log.latest_entries(of_kind["agreement"], agreements), on=PREDICATE, how="left")
        .join(trajectory.ends(of_kind["growth"], days), on=PREDICATE, how="left")
    )
    findings = {
        "spending_budget": money.spending_budget(),
        "cash_floor": money.cash_floor(),
        "cash_bounds": money.cash_bounds(),
        "price_bounds": money.price_bounds(),
        "horizon": money.horizon(),
        "agreement": agreement_log.agreement(),
        "growth": windows.growth(rules),
        "gameplay_budget": budgets.gameplay_budget(rules),
    }
    limits = rows.join(facts, on=ROW).select(*PREDICATE, "kind", "min_cents", "max_cents", beyond=money.beyond())
    broken = limits.filter("beyond").drop("beyond")
    return evident.join(trajectory.first_breaches(broken, days), on=PREDICATE, how="left").select(
        *PREDICATE, "kind", "predicate_id", *judged(by_kind(findings, UNKNOWN_KIND))
    )


def token_budgets(numbered: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The token budget of attempts whose runner registered one, where the rule set makes it a predicate."""
    registered = numbered.filter(pl.col("token_budget").is_not_null(), pl.lit(rules.gameplay.token_budget))
    return registered.select(
        ROW,
        *judged(budgets.token_budget()),
        position=pl.lit(0, pl.Int64),
        kind=pl.lit("token_budget"),
        predicate_id=pl.lit("token_budget"),
    ).select(*PREDICATE, "kind", "predicate_id", "outcome", "reason", *OBSERVATIONS)


def objectives(days: pl.LazyFrame, facts: pl.LazyFrame, declared: pl.LazyFrame) -> pl.LazyFrame:
    """The declared objectives."""
    rows = declared.filter(pl.col("part") == "objectives")
    return (
        rows.join(facts.select(ROW, "days"), on=ROW, how="left")
        .join(trajectory.windows(rows, days), on=PREDICATE, how="left")
        .select(*PREDICATE, "kind", "predicate_id", *judged(windows.objective()))
    )


def required_conclusions(asked: pl.LazyFrame) -> pl.LazyFrame:
    """The conclusions that a task requires."""
    return _of_questions(
        asked.filter("required").join(conclusions.supported(asked), on="question", how="left"),
        "required_conclusion",
        conclusions.required_conclusion(),
    )


def execution_preconditions(asked: pl.LazyFrame, facts: pl.LazyFrame) -> pl.LazyFrame:
    """The precondition of every counterfactual whose conclusion is required."""
    return _of_questions(
        asked.filter("required", pl.col("kind") == "counterfactual").join(
            facts.select(ROW, "last_day"), on=ROW, how="left"
        ),
        "execution_precondition",
        conclusions.execution_precondition(),
    )


def _of_questions(asked: pl.LazyFrame, kind: str, finding: Finding) -> pl.LazyFrame:
    return asked.select(*PREDICATE, *judged(finding), kind=pl.lit(kind), predicate_id="question_id").select(
        *PREDICATE, "kind", "predicate_id", "outcome", "reason", *OBSERVATIONS
    )
