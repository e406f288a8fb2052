"""The staged reward in plain Python, one trial at a time, and the random trials that it is compared on."""

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from assets.attempts.contract import Observations, StageValues
from assets.contract import Contract, schema
from assets.rewards.staged import staged_rewards
from assets.rulesets.loader import RuleSet
from tests.assets.verification.layer import DAY, V1

Stages = Sequence[tuple[float, float | None]]
"""Weight and value of each hidden stage, in declared order."""

EXAMPLE = ((0.4, 0.6698), (0.35, 0.9988), (0.25, 0.699))
"""In this order the sum is below 0.79225; with the last two swapped it is not."""


def expected(stages: Stages, tolerance: float = 1e-9) -> tuple[float | None, str | None]:
    """Reward and reason of one trial with a pack."""
    total = weights = 0.0
    for weight, value in stages:
        weights += weight
        total += weight * (0.0 if value is None else value)
    if not all(math.isfinite(weight) and weight >= 0 for weight, _ in stages) or not abs(weights - 1) <= tolerance:
        return None, "pack_invalid"
    if not all(value is None or 0 <= value <= 1 for _, value in stages):
        return None, "stage_out_of_range"
    scaled = min(1.0, max(0.0, total)) * 10_000
    whole = math.floor(scaled)
    return (whole + (scaled - whole >= 0.5)) / 10_000, None


def computed(trials: Sequence[Stages], rules: RuleSet = V1) -> list[tuple[float | None, str | None]]:
    """The same by the kernel, all trials at once."""
    names = [f"{number:08d}" for number in range(len(trials))]
    sizes = [len(stages) for stages in trials]
    rows = {
        "attempt_id": [name for name, size in zip(names, sizes, strict=True) for _ in range(size)],
        "position": [position for size in sizes for position in range(size)],
        "weight": [weight for stages in trials for weight, _ in stages],
        "value": [value for stages in trials for _, value in stages],
    }
    stage_values = frame(StageValues, rows, hidden=pl.lit(value=True))
    observations = frame(Observations, {"attempt_id": names}, reward_recipe=pl.lit("staged"))
    found = staged_rewards(observations.lazy(), stage_values.lazy().sort("weight"), rules).collect(engine="streaming")
    return found.sort("attempt_id").select("staged_reward", "staged_reason").rows()


def frame(contract: type[Contract], rows: dict[str, list[Any]], **constants: pl.Expr) -> pl.DataFrame:
    """Rows of a table, all other columns null."""
    nulls = {name: pl.lit(None, dtype) for name, dtype in schema(contract).items() if name not in rows}
    given = pl.DataFrame(rows, schema_overrides={name: schema(contract)[name] for name in rows})
    return given.with_columns(**nulls | {"landed_on": pl.lit(DAY)} | constants)


def random_trials(count: int, seed: int) -> Iterator[Stages]:
    """Trials whose sums are anywhere, on fine grids, and on or beside a rounding boundary."""
    chance = random.Random(seed)
    kinds = (_anywhere, _on_a_grid, _at_a_boundary)
    for number in range(count):
        yield kinds[number % len(kinds)](chance)


def _weights(chance: random.Random, size: int) -> list[float]:
    parts = [chance.random() for _ in range(size)]
    weights = [part / math.fsum(parts) for part in parts]
    return weights if abs(sum(weights) - 1) <= 1e-9 else [1.0] + [0.0] * (size - 1)


def _anywhere(chance: random.Random) -> Stages:
    weights = _weights(chance, chance.randint(1, 6))
    return [(weight, chance.choice((None, 0.0, 1.0, -0.0, *(chance.random() for _ in range(6))))) for weight in weights]


def _on_a_grid(chance: random.Random) -> Stages:
    weights = chance.choice(((0.4, 0.35, 0.25), (0.2, 0.2, 0.2, 0.2, 0.2), (0.1, 0.7, 0.2), (0.5, 0.5)))
    return [(weight, chance.randrange(10_001) / 10_000) for weight in weights]


def _at_a_boundary(chance: random.Random) -> Stages:
    """A sum of (n + 1/2) / 10,000, or a double or two beside it, in one stage or shared out."""
    value = (chance.randrange(10_000) + 0.5) / 10_000
    for _ in range(chance.randrange(3)):
        value = math.nextafter(value, chance.choice((0.0, 1.0)))
    weights = chance.choice(((1.0,), (0.5, 0.5), (0.25, 0.75), (0.4, 0.35, 0.25)))
    return [(weight, value) for weight in weights]
