"""The staged reward against JavaScript, in which upstream rounds: live where Node is installed, and as recorded."""

import json
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.assets.rewards.staged_reference import EXAMPLE, Stages, computed, random_trials

NODE = shutil.which("node")
RECORDED = Path(__file__).parents[2] / "data" / "staged_rewards.json"
TRIALS = 120_000
BOUNDARIES: Sequence[Stages] = (
    EXAMPLE,
    (EXAMPLE[0], EXAMPLE[2], EXAMPLE[1]),
    ((1.0, 0.00005),),
    ((1.0, 4.9999999999999996e-05),),
    ((1.0, 0.00015),),
    ((1.0, 0.99995),),
    ((1.0, 0.9999499999999999),),
    ((1.0, -0.0),),
    ((1.0, None),),
    ((0.5, 1.0), (0.5000000005, 1.0)),
)
"""Sums where half up, half to even and `floor(y + 0.5)` part, or that order, clamping or a sign could spoil."""

PROGRAM = """
const trials = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const rewards = trials.map((stages) => {
  let total = 0;
  for (const [weight, value] of stages) total += weight * (value ?? 0);
  const share = Math.min(1, Math.max(0, total));
  return Math.round(share * 10000) / 10000;
});
process.stdout.write(JSON.stringify(rewards));
"""


def bits(rewards: Sequence[float | None]) -> bytes:
    return struct.pack(f"<{len(rewards)}d", *rewards)


def rewards(trials: Sequence[Stages]) -> list[float | None]:
    return [reward for reward, _ in computed(trials)]


def by_node(trials: Sequence[Stages]) -> list[float]:
    program = subprocess.run(
        [str(NODE), "-e", PROGRAM], input=json.dumps(trials).encode(), capture_output=True, check=True, timeout=120
    )
    answers: list[float] = json.loads(program.stdout)
    return [float(answer) for answer in answers]


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_random_trials_are_rewarded_as_node_rewards_them_bit_for_bit() -> None:
    trials = [*BOUNDARIES, *random_trials(TRIALS, seed=20261129)]
    assert bits(rewards(trials)) == bits(by_node(trials))


def test_recorded_trials_are_rewarded_as_node_rewarded_them_bit_for_bit() -> None:
    cases = json.loads(RECORDED.read_text(encoding="utf-8"))
    trials = [case["stages"] for case in cases]
    assert [tuple(map(tuple, stages)) for stages in trials[: len(BOUNDARIES)]] == list(BOUNDARIES)
    assert bits(rewards(trials)) == bits([float(case["reward"]) for case in cases])
