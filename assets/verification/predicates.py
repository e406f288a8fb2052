"""`predicate_results`: what every applicable predicate of every scored attempt found.

Here: which predicates apply, the evidence beside each, and their order. Not here: the kinds themselves, which are in
`money`, `windows`, `agreements`, `budgets` and `conclusions`, and what evidence makes of them (`findings`).
"""

import polars as pl

from assets.assessments.answers import QUESTION, asked, branch_evidence, graded_answers
from assets.assessments.evidence import KEY, ROW, scored
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet
from assets.verification import agreements as agreement_log
from assets.verification import budgets, conclusions, money, trajectory, windows
from assets.verification.contract import PredicateResults
from assets.verification.findings import Finding, by_kind, judge, reasons
from assets.verification.trajectory import PREDICATE

# Parts of an attempt's predicates, in the order of the table.
CONSTRAINTS, IMPLICIT_BUDGETS, TOKEN_BUDGETS, OBJECTIVES, CONCLUSIONS, PRECONDITIONS = map(pl.lit, range(6))
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
    playing = scored(attempts)
    declared = task_predicates.with_row_index(PREDICATE)
    questions_ = asked(playing, questions)
    return (
        pl.concat(
            [
                contract_predicates(playing, declared, trajectory_days, agreements, rules),
                implicit_budgets(playing, declared, rules),
                token_budgets(playing, rules),
                required_conclusions(questions_, graded_answers(questions_, answers)),
                execution_preconditions(questions_, trajectory_days, branches),
            ]
        )
        .sort(ROW, "part", "position")
        .with_columns(rules=pl.lit(rules.id))
        .pipe(to_contract, PredicateResults)
    )


def contract_predicates(
    playing: pl.LazyFrame, declared: pl.LazyFrame, days: pl.LazyFrame, agreements: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """The declared constraints and objectives, beside all evidence that one of them asks for."""
    findings = {
        "spending_budget": money.spending_budget(),
        "cash_floor": money.cash_floor(),
        "cash_bounds": money.cash_bounds(),
        "price_bounds": money.price_bounds(),
        "horizon": money.horizon(),
        "agreement": agreement_log.agreement(),
        "growth": windows.growth(rules),
        "gameplay_budget": budgets.gameplay_budget(rules),
        "objective": windows.objective(),
    }
    constraint, kind = pl.col("part") == "constraints", pl.col("kind")
    # A constraint that calls itself an objective is none: only the list of objectives holds those.
    known = pl.when(~constraint | (kind != "objective")).then(kind.replace_strict({k: k for k in findings}, default=None))
    seen = playing.select(*KEY, ROW, "horizon_days", **budgets.USAGE).join(trajectory.facts(days), on=KEY, how="left")
    rows = declared.with_columns(
        judged_as=known, part=pl.when(constraint).then(CONSTRAINTS).otherwise(OBJECTIVES)
    ).join(seen, on=KEY)
    # Each predicate has at most one of these, so that one join brings them all.
    evidence = [
        trajectory.first_breaches(rows.filter(money.is_broken()), days),
        trajectory.prices(declared, days),
        trajectory.named_days(declared, days),
        agreement_log.latest_entries(declared, agreements),
    ]
    return rows.join(pl.concat(evidence, how="diagonal"), on=PREDICATE, how="left").pipe(
        judge, by_kind(findings, UNKNOWN_KIND)
    )


def implicit_budgets(playing: pl.LazyFrame, declared: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The gameplay budget of attempts whose task declares none."""
    stated = declared.filter(pl.col("part") == "constraints", pl.col("kind") == "gameplay_budget")
    silent = playing.select(*KEY, ROW, **budgets.USAGE).join(stated.select(KEY), on=KEY, how="anti")
    no_overrides = {name: pl.lit(None, pl.Float64) for name in budgets.USAGE.values()}
    return judge(
        silent.with_columns(**no_overrides, **_named("gameplay_budget", IMPLICIT_BUDGETS)),
        budgets.gameplay_budget(rules),
    )


def token_budgets(playing: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The token budget of attempts whose runner registered one, where the rule set makes it a predicate."""
    registered = playing.filter(pl.col("token_budget").is_not_null(), pl.lit(rules.gameplay.token_budget))
    return judge(registered.with_columns(**_named("token_budget", TOKEN_BUDGETS)), budgets.token_budget())


def required_conclusions(asked: pl.LazyFrame, given: pl.LazyFrame) -> pl.LazyFrame:
    """The conclusions that a task requires."""
    return (
        asked.filter("required")
        .join(given, on=QUESTION, how="left")
        .join(conclusions.supported(asked), on=QUESTION, how="left")
        .with_columns(part=CONCLUSIONS, kind=pl.lit("required_conclusion"), predicate_id="question_id")
        .pipe(judge, conclusions.required_conclusion())
    )


def execution_preconditions(asked: pl.LazyFrame, days: pl.LazyFrame, branches: pl.LazyFrame) -> pl.LazyFrame:
    """The precondition of every counterfactual whose conclusion is required."""
    return (
        asked.filter("required", pl.col("kind") == "counterfactual")
        .join(branch_evidence(asked, branches), on=QUESTION)
        .join(trajectory.facts(days).select(*KEY, "last_day"), on=KEY, how="left")
        .with_columns(part=PRECONDITIONS, kind=pl.lit("execution_precondition"), predicate_id="question_id")
        .pipe(judge, conclusions.execution_precondition())
    )


def _named(kind: str, part: pl.Expr) -> dict[str, pl.Expr]:
    return {"part": part, "position": pl.lit(0, pl.Int64), "kind": pl.lit(kind), "predicate_id": pl.lit(kind)}
