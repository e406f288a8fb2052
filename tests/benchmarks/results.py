"""Scoring: every results table of one rule set against the plain-Python reference over the same attempts."""

import datetime as dt
import json
import random
import tempfile
from pathlib import Path

import polars as pl

from assets.assessments.scores import assessment_scores
from assets.attempts.contract import PARTS, WORLDSEQ_PARTS
from assets.contract import table_name
from assets.reconciliation.recorded import reconciliation
from assets.rewards.harbor_utility import rewards
from assets.rulesets.loader import load_all
from assets.sources.documents import Document, Limits
from assets.sources.worldseq import decode
from assets.tables import LAYERS, TABLES
from assets.verification.predicates import predicate_results
from assets.verification.verdicts import verifications
from pipelines.storage.tables import Tables
from tests.benchmarks.ratios import Ratio, best
from tests.benchmarks.store import attempt
from tests.reference.worldseq import expected

COUNT = 20_000
DAY = dt.date(2026, 11, 1)
NOON = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
KEY = {"landed_on": DAY}


def score(tables: Tables) -> None:
    """Read the attempts layer and write every results table of one rule set, as the assets do it."""
    rules = load_all()["v1"]
    layer = {table_name(contract): tables.scan(contract, [KEY]) for contract in PARTS}
    key = {**KEY, "rules": rules.id}

    def written(name: str, frame: pl.LazyFrame) -> pl.LazyFrame:
        tables.replace(TABLES[name], frame, [key])
        return tables.scan(TABLES[name], [key])

    evidence = [layer[name] for name in ("questions", "answers", "branches")]
    attempts, days, recorded = (layer[name] for name in ("attempts", "trajectory_days", "recorded_values"))
    found = written(
        "predicate_results",
        predicate_results(attempts, days, layer["task_predicates"], layer["agreements"], *evidence, rules),
    )
    verdicts = written("verifications", verifications(attempts, days, found, recorded, rules))
    scores = written("assessment_scores", assessment_scores(attempts, days, *evidence, rules))
    worth = written("rewards", rewards(attempts, verdicts, recorded, rules))
    written("reconciliation", reconciliation(attempts, recorded, found, verdicts, scores, worth, rules))


def main() -> list[Ratio]:
    """(b) Attempts per second against the reference over the same attempts, already parsed in memory."""
    rng = random.Random(1)
    attempts = [attempt(rng, number) for number in range(COUNT)]
    reference = best(lambda: [expected(one) for one in attempts], 1)
    with tempfile.TemporaryDirectory() as name:
        tables = Tables(str(Path(name)))
        tables.ensure([*PARTS, *LAYERS["results"]])
        contents = [json.dumps(one).encode() for one in attempts]
        documents = [
            Document(f"file:///{number}", str(number), "worldseq", DAY, NOON, f"{number:064x}", content)
            for number, content in enumerate(contents)
        ]
        decoded = decode(documents, Limits(), 0)
        for contract in WORLDSEQ_PARTS:
            tables.replace(contract, decoded.frames[table_name(contract)].drop("document"), [KEY])
        scoring = best(lambda: score(tables))
    return [
        Ratio(
            "(b) all results tables of a rule set, 20,000 attempts, attempts/s ÷ plain Python",
            reference / scoring,
            "≥ 5, aim 15",
            f"{COUNT / scoring:,.0f}/s against {COUNT / reference:,.0f}/s",
        )
    ]
