"""Whatever the bytes of AgentCompass files: nothing raises, and the tables fulfil their contracts."""

import random

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assets.attempts.contract import Attempts, BenchmarkRuns, Observations
from assets.attempts.precedence import resolve
from assets.contract import conform, table_name
from assets.landing.contract import Quarantine
from assets.sources import agentcompass_reading
from assets.sources.documents import Decoded, Document
from tests.assets.sources.agentcompass_documents import document, issue, normal, record, result, task, together
from tests.assets.sources.test_worldseq_fuzz import TOKENS, places, with_token

RUN = {
    "runId": "r",
    "benchmark": "b",
    "k": 2,
    "missingScore": 0,
    "categoryHierarchy": {"overall": {"aggregation": "weighted", "children": {"py": {"weight": 1}, "js": {}}}},
    "metrics": {"correct": {"kind": "binary_success", "reducers": ["avg"], "primary": True}},
}
VERDICTS = [{"status": "ERROR", "correct": True}, {"status": "completed", "score": 0.5}, None]
FILES = {
    f"{normal()}/task.json": task(attempts=(1, 2)),
    f"{normal()}/attempt-1/result.json": result(issues=[issue("error")]),
    f"{normal('t1--1')}/task.json": task(),
    "nightly/gsm/t1.json": record(metrics={"x": 1, "y": {"z": 1}}),
    "nightly/gsm/t2.json": record("t2", attempts=VERDICTS, category=["a", "b"]),
    "nightly/gsm/results.jsonl": record("t2", attempts={"1": VERDICTS[0]}),
    "nightly/gsm/run.json": RUN,
}


@st.composite
def stores(draw: st.DrawFn) -> list[Document]:
    """All files, some spoiled, of several ages."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    found = []
    for path, sound in FILES.items():
        content = with_token(sound, chance.choice(places(sound)), chance.choice(TOKENS))
        if chance.random() < 0.2:
            cut = chance.randrange(len(content) + 1)
            content = content[:cut] + chance.randbytes(chance.randrange(3)) + content[cut + chance.randrange(9) :]
        found.append(document(path, content if chance.random() < 0.7 else sound, chance.randrange(3)))
    return found


def check(decoded: Decoded) -> None:
    """Winners' rows fulfil their contracts, and what is twice has been told apart before."""
    conform(Quarantine, decoded.quarantine)
    assert decoded.quarantine.select("uri", "path", "stage", "reason").is_unique().all()
    assert decoded.candidates["document"].is_unique().all()
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files)
    assert resolution.quarantine.is_empty()
    for contract, kept in (
        (Observations, resolution.winners),
        (Attempts, resolution.winners),
        (BenchmarkRuns, resolution.recorded),
    ):
        frame: pl.DataFrame = decoded.frames[table_name(contract)]
        conform(contract, frame.join(kept, on="document", how="semi").drop("document"))


class Refusing:
    """A decoder that leaves everything to the careful reading."""

    def decode(self, _: bytes) -> None:
        raise msgspec.DecodeError


@settings(max_examples=30, deadline=None)
@given(stores())
def test_spoiled_files(documents: list[Document]) -> None:
    fast = together(*documents)
    check(fast)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_TASK", "_RESULT", "_RECORD"):
            patch.setattr(agentcompass_reading, name, Refusing())
        careful = together(*documents)
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, careful.frames[name])
    assert_frame_equal(fast.quarantine, careful.quarantine)
