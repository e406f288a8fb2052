"""What a frame that breaks its contract is told to break."""

import polars as pl
import pytest

from assets.contract import ContractError, conform, schema
from assets.rewards.contract import Rewards

ROW = {"attempt_id": "a", "rules": "v1", "reward_kind": "nothing of ours", "reason": "x" * 10_000}


def test_the_message_names_what_is_broken_and_stays_a_line_that_people_read() -> None:
    frame = pl.DataFrame([ROW] * 9, schema=schema(Rewards))
    with pytest.raises(ContractError) as broken:
        conform(Rewards, frame)
    told = str(broken.value)
    assert told.startswith("rewards: ")
    for part in (
        "multiple_fields_uniqueness (9 failures",
        '{"attempt_id":"a"',
        "landed_on: not_nullable",
        "nothing of",
    ):
        assert part in told
    assert len(told) < 3_000
