"""The benchmark tables against a plain-Python reading of the rules, run by run, on generated runs.

By hand over more of them: `python -m tests.assets.test_benchmark_agreement SEED COUNT`.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import polars as pl
import pytest

from assets.attempts.contract import BenchmarkRuns, Observations
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.benchmarks.metrics import benchmark_metrics
from assets.benchmarks.totals import run_totals
from assets.contract import Contract, conform, key, schema
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet, load_all
from tests.reference import benchmarks
from tests.reference.benchmark_model import Rules
from tests.reference.benchmark_rows import MAX_COUNT, Draft, Runs
from tests.reference.benchmark_runs import DAYS, runs

COUNT = 3_000
SEED = 11
TOLERANCE = 1e-12

Row = dict[str, Any]
Keyed = dict[tuple[Any, ...], Row]


def constants(rules: RuleSet) -> Rules:
    return Rules(
        voiding_exceptions=frozenset(rules.harbor.voiding_exceptions),
        id=rules.id,
        pass_k_powers_of=rules.benchmark.pass_k_powers_of,
        pass_k_multiples_of=rules.benchmark.pass_k_multiples_of,
        pass_threshold=rules.staged.pass_threshold,
        staged_kind=rules.staged.kind,
        recorded_kind=rules.staged.recorded_kind,
    )


def generated(seed: int, count: int) -> Runs:
    """The rows of many runs together: one call of a kernel is about all of them."""
    return Runs(*([row for part in parts for row in part] for parts in zip(*runs(seed, count), strict=True)))


def keyed(contract: type[Contract], rows: Sequence[Row]) -> Keyed:
    found = {tuple(row[name] for name in key(contract)): row for row in rows}
    assert len(found) == len(rows)
    return found


class Tables:
    """Both tables, from the kernels and from the reference, by key."""

    def __init__(self, made: Runs) -> None:
        rules = load_all()["v1"]
        observed, described, worth = (
            pl.DataFrame(rows, schema=schema(contract), orient="row").lazy()
            for contract, rows in zip((Observations, BenchmarkRuns, Rewards), made, strict=True)
        )
        metrics = conform(BenchmarkMetrics, benchmark_metrics(observed, described, worth, rules).collect())
        totals = conform(RunTotals, run_totals(observed, described, worth, rules).collect())
        self.metrics = keyed(BenchmarkMetrics, metrics.to_dicts())
        self.totals = keyed(RunTotals, totals.to_dicts())
        self.expected_metrics = keyed(BenchmarkMetrics, benchmarks.benchmark_metrics(*made, constants(rules)))
        self.expected_totals = keyed(RunTotals, benchmarks.run_totals(*made, constants(rules)))


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables(generated(SEED, COUNT))


def differing(found: Keyed, wanted: Keyed) -> list[tuple[Any, ...]]:
    """Rows that one side alone has, and fields that differ; doubles may, in their last bits."""
    alone = [("only found", one) for one in found.keys() - wanted.keys()]
    alone += [("only expected", one) for one in wanted.keys() - found.keys()]
    return alone + [
        (one, name, found[one][name], wanted[one][name])
        for one in found.keys() & wanted.keys()
        for name in wanted[one]
        if not same(found[one][name], wanted[one][name])
    ]


def same(found: Any, wanted: Any) -> bool:
    if isinstance(found, float) and isinstance(wanted, float):
        return abs(found - wanted) <= TOLERANCE * max(1.0, abs(wanted))
    return type(found) is type(wanted) and bool(found == wanted)


def test_metrics_agree(tables: Tables) -> None:
    assert differing(tables.metrics, tables.expected_metrics)[:5] == []


def test_totals_agree(tables: Tables) -> None:
    assert differing(tables.totals, tables.expected_totals)[:5] == []


def test_sums_beyond_64_bits_agree() -> None:
    run = Draft(Random(SEED), "harbor", "run", DAYS[0])
    for _ in range(2**63 // MAX_COUNT):
        run.observe(format="harbor", benchmark="adhoc", task_id="task")["n_input_tokens"] = MAX_COUNT
    both = Tables(run.rows)
    (row,) = both.totals.values()
    assert (row["n_input_tokens"], row["n_input_tokens_n"]) == (None, 1024)
    assert differing(both.totals, both.expected_totals) == []


def test_the_comparison_is_about_every_kind_of_figure(tables: Tables) -> None:
    kinds = Counter((row["source"], row["reducer"], row["policy"]) for row in tables.metrics.values())
    assert (len(kinds), min(kinds.values()) > 100) == (19, True)


if __name__ == "__main__":
    both = Tables(generated(int(sys.argv[1]), int(sys.argv[2])))
    differences = [
        *differing(both.metrics, both.expected_metrics),
        *differing(both.totals, both.expected_totals),
    ]
    for difference in differences[:20]:
        sys.stdout.write(f"{difference}\n")
    sys.stdout.write(f"{len(differences)} differences, {len(both.metrics)} metrics, {len(both.totals)} totals\n")
