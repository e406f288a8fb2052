"""Whatever the bytes: decoding never raises, and every document ends somewhere."""

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assets.attempts.contract import WORLDSEQ_PARTS, RecordedValues
from assets.attempts.precedence import resolve
from assets.contract import conform, table_name
from assets.landing.contract import Quarantine
from assets.sources import worldseq
from assets.sources.documents import Decoded
from tests.assets.sources.worldseq_documents import CASE, FINALIZER, FULL, HARBOR, REWARD, as_bytes, decode, named

SUMMARY = {"cases": [CASE, named("other", CASE)], "completed": 2, "usage": {"tokens": 3}}
BASES = (FULL, FINALIZER, HARBOR, SUMMARY, REWARD)
TOKENS = (
    "null",
    "true",
    "-1",
    "1.5",
    "1e999",
    "9" * 400,
    '"x"',
    '"\\ud800"',
    "[]",
    "{}",
    "[[[]]]",
    '{"a":null}',
    "NaN",
    str(2**63),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside, itself included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, member in inner for found in places(member, (*path, step)))]


def with_token(value: Any, path: tuple[Any, ...], token: str) -> bytes:
    """The value as bytes with a JSON token in place of what stands at the path."""
    copy = json.loads(json.dumps(value))
    if not path:
        return token.encode()
    target = copy
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = "@@@"
    return as_bytes(copy).replace(b'"@@@"', token.encode())


@st.composite
def spoiled_values(draw: st.DrawFn) -> bytes:
    base = draw(st.sampled_from(BASES))
    return with_token(base, draw(st.sampled_from(places(base))), draw(st.sampled_from(TOKENS)))


@st.composite
def spoiled_bytes(draw: st.DrawFn) -> bytes:
    content = as_bytes(draw(st.sampled_from(BASES)))
    start = draw(st.integers(0, len(content)))
    stop = draw(st.integers(start, min(len(content), start + 20)))
    return content[:start] + draw(st.binary(max_size=6)) + content[stop:]


def check(decoded: Decoded, documents: int) -> None:
    """Every document is a candidate, a side file or in quarantine, and the winners' rows fulfil their contracts."""
    ended = {*decoded.candidates["uri"], *decoded.side_files["uri"], *decoded.quarantine["uri"]}
    assert len(ended) == documents
    numbers = [*decoded.candidates["document"], *decoded.side_files["document"]]
    assert numbers == list(range(decoded.next_document))
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files)
    conform(Quarantine, pl.concat([decoded.quarantine, resolution.quarantine]))
    for contract in WORLDSEQ_PARTS:
        kept = resolution.recorded if contract is RecordedValues else resolution.winners
        assert kept["document"].is_unique().all()
        frame = decoded.frames[table_name(contract)].join(kept, on="document", how="semi")
        conform(contract, frame.drop("document"))


@settings(max_examples=60, deadline=None)
@given(st.lists(spoiled_values(), min_size=1, max_size=6))
def test_spoiled_values(contents: list[bytes]) -> None:
    check(decode(*[named("sound"), *contents]), len(contents) + 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(spoiled_bytes() | st.binary(max_size=30), min_size=1, max_size=6))
def test_spoiled_bytes(contents: list[bytes]) -> None:
    decoded = decode(*[named("sound"), *contents])
    check(decoded, len(contents) + 1)
    assert "worldseq:sound" in decoded.frames["attempts"]["attempt_id"]


@settings(max_examples=100, deadline=None)
@given(st.lists(spoiled_values() | spoiled_bytes(), min_size=1, max_size=6))
def test_the_careful_reading_agrees_with_the_fast_one(contents: list[bytes]) -> None:
    fast = decode(*contents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worldseq, "_glance", lambda *_: None)
        careful = decode(*contents)
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, careful.frames[name])
    assert_frame_equal(fast.candidates, careful.candidates)
    assert_frame_equal(fast.quarantine, careful.quarantine, check_row_order=False)
