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
                *contract_predicates(playing, declared, trajectory_days, agreements, rules),
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
) -> list[pl.LazyFrame]:
    """The declared constraints and objectives, each kind beside the evidence that it asks for."""
    facts = trajectory.facts(days)
    seen = playing.select(*KEY, ROW, "horizon_days", **budgets.USAGE).join(facts, on=KEY, how="left")
    broken = declared.join(facts, on=KEY).filter(money.is_broken())
    breaches = trajectory.first_breaches(broken, days)
    prices = trajectory.prices(declared, days)
    named_days = trajectory.named_days(declared, days)
    entries = agreement_log.latest_entries(declared, agreements)
    constraint, kind = pl.col("part") == "constraints", pl.col("kind")

    # Filtered before the joins: a filter on a joined frame would make the optimizer aggregate the trajectory per kind.
    def judged(chosen: pl.Expr, part: pl.Expr, finding: Finding, evidence: pl.LazyFrame | None = None) -> pl.LazyFrame:
        rows = declared.filter(chosen).with_columns(part=part).join(seen, on=KEY)
        return judge(rows if evidence is None else rows.join(evidence, on=PREDICATE, how="left"), finding)

    constraints = {
        "spending_budget": (money.spending_budget(), breaches),
        "cash_floor": (money.cash_floor(), breaches),
        "cash_bounds": (money.cash_bounds(), breaches),
        "price_bounds": (money.price_bounds(), prices),
        "horizon": (money.horizon(), None),
        "agreement": (agreement_log.agreement(), entries),
        "growth": (windows.growth(rules), named_days),
        "gameplay_budget": (budgets.gameplay_budget(rules), None),
    }
    return [
        *(judged(constraint & (kind == name), CONSTRAINTS, *known) for name, known in constraints.items()),
        judged(constraint & ~kind.is_in(list(constraints)), CONSTRAINTS, UNKNOWN_KIND),
        judged(~constraint, OBJECTIVES, windows.objective(), named_days),
    ]


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
