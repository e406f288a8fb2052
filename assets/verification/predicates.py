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
PARTS = [pl.lit(number) for number in range(6)]
CONSTRAINTS, IMPLICIT_BUDGETS, TOKEN_BUDGETS, OBJECTIVES, CONCLUSIONS, PRECONDITIONS = PARTS
# A list of a document of at most 64 MiB holds fewer members than that.
MAX_POSITIONS = 2**26
UNKNOWN_KIND = Finding(fault=reasons((pl.lit(value=True), "unknown_kind")))


def predicate_results(
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
    seen = playing.select(*KEY, ROW, "horizon_days", "reported_tokens", "token_budget", **budgets.USAGE).join(
        trajectory.facts(trajectory_days), on=KEY, how="left"
    )
    declared = task_predicates.with_row_index(PREDICATE)
    questions_ = asked(playing, questions)
    return (
        pl.concat(
            [
                *contract_predicates(seen, declared, trajectory_days, agreements, rules),
                implicit_budgets(seen, declared, rules),
                token_budgets(seen, rules),
                required_conclusions(questions_, graded_answers(questions_, answers)),
                execution_preconditions(seen, questions_, branches),
            ]
        )
        .sort(order())
        .with_columns(rules=pl.lit(rules.id))
        .pipe(to_contract, PredicateResults)
    )


def order() -> pl.Expr:
    """Attempt, part and position in one integer: sorting by it takes a fraction of the time of three columns."""
    return (pl.col(ROW).cast(pl.Int64) * len(PARTS) + pl.col("part")) * MAX_POSITIONS + pl.col("position")


def contract_predicates(
    seen: pl.LazyFrame, declared: pl.LazyFrame, days: pl.LazyFrame, agreements: pl.LazyFrame, rules: RuleSet
) -> list[pl.LazyFrame]:
    """The declared constraints and objectives, each kind beside the evidence that it asks for."""
    named_days = trajectory.named_days(declared, days)
    constraint, kind = pl.col("part") == "constraints", pl.col("kind")
    breakable = {
        "spending_budget": money.spending_budget(),
        "cash_floor": money.cash_floor(),
        "cash_bounds": money.cash_bounds(),
    }
    single = {
        "price_bounds": (money.price_bounds(), trajectory.prices(declared, days)),
        "horizon": (money.horizon(), None),
        "agreement": (agreement_log.agreement(), agreement_log.latest_entries(declared, agreements)),
        "growth": (windows.growth(rules), named_days),
        "gameplay_budget": (budgets.gameplay_budget(rules), None),
    }

    # Filtered before the joins: a filter on a joined frame would make the optimizer aggregate the trajectory per kind.
    def beside(chosen: pl.Expr, part: pl.Expr, evidence: pl.LazyFrame | None = None) -> pl.LazyFrame:
        rows = declared.filter(chosen).with_columns(part=part).join(seen, on=KEY)
        return rows if evidence is None else rows.join(evidence, on=PREDICATE, how="left")

    cash = beside(constraint & kind.is_in(list(breakable)), CONSTRAINTS)
    breaches = trajectory.first_breaches(cash.filter(money.is_broken()), days)
    return [
        judge(cash.join(breaches, on=PREDICATE, how="left"), by_kind(breakable)),
        *(
            judge(beside(constraint & (kind == name), CONSTRAINTS, evidence), finding)
            for name, (finding, evidence) in single.items()
        ),
        judge(beside(constraint & ~kind.is_in([*breakable, *single]), CONSTRAINTS), UNKNOWN_KIND),
        judge(beside(~constraint, OBJECTIVES, named_days), windows.objective()),
    ]


def implicit_budgets(seen: pl.LazyFrame, declared: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The gameplay budget of attempts whose task declares none."""
    stated = declared.filter(pl.col("part") == "constraints", pl.col("kind") == "gameplay_budget")
    no_overrides = {name: pl.lit(None, pl.Float64) for name in budgets.USAGE.values()}
    silent = seen.join(stated.select(KEY), on=KEY, how="anti").with_columns(**no_overrides)
    return judge(_named(silent, "gameplay_budget", IMPLICIT_BUDGETS), budgets.gameplay_budget(rules))


def token_budgets(seen: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The token budget of attempts whose runner registered one, where the rule set makes it a predicate."""
    registered = seen.filter(pl.col("token_budget").is_not_null(), pl.lit(rules.gameplay.token_budget))
    return judge(_named(registered, "token_budget", TOKEN_BUDGETS), budgets.token_budget())


def required_conclusions(asked: pl.LazyFrame, given: pl.LazyFrame) -> pl.LazyFrame:
    """The conclusions that a task requires."""
    return (
        asked.filter("required")
        .join(given, on=QUESTION, how="left")
        .join(conclusions.supported(asked), on=QUESTION, how="left")
        .with_columns(part=CONCLUSIONS, kind=pl.lit("required_conclusion"), predicate_id="question_id")
        .pipe(judge, conclusions.required_conclusion())
    )


def execution_preconditions(seen: pl.LazyFrame, asked: pl.LazyFrame, branches: pl.LazyFrame) -> pl.LazyFrame:
    """The precondition of every counterfactual whose conclusion is required."""
    return (
        asked.filter("required", pl.col("kind") == "counterfactual")
        .join(branch_evidence(asked, branches), on=QUESTION)
        .join(seen.select(*KEY, "last_day"), on=KEY)
        .with_columns(part=PRECONDITIONS, kind=pl.lit("execution_precondition"), predicate_id="question_id")
        .pipe(judge, conclusions.execution_precondition())
    )


def _named(attempts: pl.LazyFrame, kind: str, part: pl.Expr) -> pl.LazyFrame:
    return attempts.with_columns(
        part=part, position=pl.lit(0, pl.Int64), kind=pl.lit(kind), predicate_id=pl.lit(kind)
    )
