"""`predicate_results`: what every applicable predicate of every scored attempt found.

Here: which predicates apply, the evidence beside each, and their order. Not here: the kinds themselves, which are in
`money`, `windows`, `agreements`, `budgets` and `conclusions`, and what evidence makes of them (`findings`).
"""

import polars as pl

from assets.assessments.answers import QUESTION, asked, branch_evidence, graded_answers
from assets.attempts.evidence import KEY, ROW, attempt_of, number, numbered, scored
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet
from assets.verification import agreements as agreement_log
from assets.verification import budgets, conclusions, money, trajectory, windows
from assets.verification.contract import PredicateResults
from assets.verification.findings import PREDICATE, Finding, by_kind, judge, reasons

# Parts of an attempt's predicates, in the order of the table.
CONSTRAINTS, IMPLICIT_BUDGETS, TOKEN_BUDGETS, OBJECTIVES, CONCLUSIONS, PRECONDITIONS = (
    pl.lit(part) for part in range(6)
)
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
    required = questions.filter("required")
    return (
        pl.concat(
            [
                *contract_predicates(playing, seen, task_predicates, trajectory_days, agreements, rules),
                implicit_budgets(seen, task_predicates, rules),
                token_budgets(seen, rules),
                required_conclusions(playing, required, answers),
                execution_preconditions(playing, seen, required, branches),
            ]
        )
        .sort(PREDICATE)
        .with_columns(rules=pl.lit(rules.id), position=places())
        .pipe(to_contract, PredicateResults)
    )


def places() -> pl.Expr:
    """The place of each predicate among those of its attempt, in rows that are sorted: cheaper than a window."""
    place, attempt = pl.int_range(pl.len(), dtype=pl.Int64), attempt_of(pl.col(PREDICATE))
    return place - pl.when(attempt.ne_missing(attempt.shift())).then(place).otherwise(0).cum_max()


def contract_predicates(
    playing: pl.LazyFrame,
    seen: pl.LazyFrame,
    task_predicates: pl.LazyFrame,
    days: pl.LazyFrame,
    agreements: pl.LazyFrame,
    rules: RuleSet,
) -> list[pl.LazyFrame]:
    """The declared constraints and objectives, each kind beside the evidence that it asks for."""
    part, kind = pl.col("part"), pl.col("kind")
    constraint, objective = part == "constraints", part == "objectives"

    def declared(chosen: pl.Expr) -> pl.LazyFrame:
        list_ = pl.when(constraint).then(CONSTRAINTS).otherwise(OBJECTIVES)
        return numbered(task_predicates.filter(chosen), PREDICATE, playing, list_)

    def beside(chosen: pl.Expr, evidence: pl.LazyFrame | None = None) -> pl.LazyFrame:
        rows = declared(chosen).join(seen.drop(KEY), on=ROW)
        return rows if evidence is None else rows.join(evidence, on=PREDICATE, how="left")

    breakable = {
        "spending_budget": money.spending_budget(),
        "cash_floor": money.cash_floor(),
        "cash_bounds": money.cash_bounds(),
    }
    cash = beside(constraint & kind.is_in(list(breakable)))
    breaches = trajectory.first_breaches(cash.filter(money.is_broken()), days)
    prices = trajectory.prices(declared(constraint & (kind == "price_bounds")), days)
    entries = agreement_log.latest_entries(declared(constraint & (kind == "agreement")), agreements)
    named_days = trajectory.named_days(declared(objective | (kind == "growth")), days)
    others = {
        "price_bounds": (money.price_bounds(), prices),
        "horizon": (money.horizon(), None),
        "agreement": (agreement_log.agreement(), entries),
        "growth": (windows.growth(rules), named_days),
        "gameplay_budget": (budgets.gameplay_budget(rules), None),
    }
    return [
        judge(cash.join(breaches, on=PREDICATE, how="left"), by_kind(breakable)),
        *(
            judge(beside(constraint & (kind == name), evidence), finding)
            for name, (finding, evidence) in others.items()
        ),
        judge(beside(constraint & ~kind.is_in([*breakable, *others])), UNKNOWN_KIND),
        judge(beside(objective, named_days), windows.objective()),
    ]


def implicit_budgets(seen: pl.LazyFrame, task_predicates: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The gameplay budget of attempts whose task declares none."""
    stated = task_predicates.filter(pl.col("part") == "constraints", pl.col("kind") == "gameplay_budget")
    no_overrides = {name: pl.lit(None, pl.Float64) for name in budgets.USAGE.values()}
    silent = seen.join(stated.select(KEY), on=KEY, how="anti").with_columns(**no_overrides)
    return judge(_named(silent, "gameplay_budget", IMPLICIT_BUDGETS), budgets.gameplay_budget(rules))


def token_budgets(seen: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """The token budget of attempts whose runner registered one, where the rule set makes it a predicate."""
    registered = seen.filter(pl.col("token_budget").is_not_null(), pl.lit(rules.gameplay.token_budget))
    return judge(_named(registered, "token_budget", TOKEN_BUDGETS), budgets.token_budget())


def required_conclusions(playing: pl.LazyFrame, required: pl.LazyFrame, answers: pl.LazyFrame) -> pl.LazyFrame:
    """The conclusions that a task requires."""
    questions = asked(playing, required)
    return (
        questions.join(graded_answers(playing, questions, answers), on=QUESTION, how="left")
        .join(conclusions.truth_groups(questions), on=QUESTION, how="left")
        .rename({"kind": "kind_of_question"})
        .pipe(_about_questions, "required_conclusion", CONCLUSIONS)
        .pipe(judge, conclusions.required_conclusion())
    )


def execution_preconditions(
    playing: pl.LazyFrame, seen: pl.LazyFrame, required: pl.LazyFrame, branches: pl.LazyFrame
) -> pl.LazyFrame:
    """The precondition of every counterfactual whose conclusion is required."""
    questions = asked(playing, required.filter(pl.col("kind") == "counterfactual"))
    return (
        questions.join(branch_evidence(questions, branches), on=QUESTION)
        .join(seen.select(ROW, "last_day"), on=ROW)
        .pipe(_about_questions, "execution_precondition", PRECONDITIONS)
        .pipe(judge, conclusions.execution_precondition())
    )


def _about_questions(questions: pl.LazyFrame, kind: str, part: pl.Expr) -> pl.LazyFrame:
    return questions.with_columns(number(part).alias(PREDICATE), kind=pl.lit(kind), predicate_id="question_id")


def _named(attempts: pl.LazyFrame, kind: str, part: pl.Expr) -> pl.LazyFrame:
    named = attempts.with_columns(position=pl.lit(0, pl.Int64), kind=pl.lit(kind), predicate_id=pl.lit(kind))
    return named.with_columns(number(part).alias(PREDICATE))
