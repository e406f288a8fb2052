from typing import Any

import pytest

from tests.assets.verification.layer import found

SIGNED = {"kind": "agreement", "agreement_id": "deal", "agreement_status": "signed"}


def entry(status: str, on_day: int | None, agreement_id: str = "deal") -> dict[str, Any]:
    return {"agreement_id": agreement_id, "status": status, "on_day": on_day}


@pytest.mark.parametrize(
    ("entries", "by_day", "reason"),
    [
        ([entry("signed", 14)], 20, None),
        ([entry("signed", 20)], 20, None),
        ([entry("signed", 21)], 20, "no_agreement"),
        ([entry("signed", 3), entry("cancelled", 4)], None, "status_differs"),
        ([entry("cancelled", 4), entry("signed", 3)], None, "status_differs"),
        ([entry("signed", 3), entry("cancelled", 4)], 3, None),
        ([entry("draft", 3), entry("signed", 3)], 3, None),
        ([entry("signed", 3), entry("draft", 3)], 3, "status_differs"),
        ([entry("signed", 0), entry("cancelled", None)], None, None),
        ([entry("signed", None)], None, None),
        ([entry("draft", None), entry("signed", None)], None, None),
        ([entry("signed", None)], 3, "no_agreement"),
        ([entry("signed", 1, "other")], None, "no_agreement"),
        ([], None, "no_agreement"),
    ],
)
def test_the_latest_entry_in_time_decides(
    entries: list[dict[str, Any]], by_day: int | None, reason: str | None
) -> None:
    # An agreement needs no trajectory.
    result = found(SIGNED | {"by_day": by_day}, [], agreements=entries)
    assert (result["outcome"], result["reason"]) == ("fail" if reason else "pass", reason)


def test_the_day_of_the_decisive_entry_is_told() -> None:
    result = found(SIGNED | {"by_day": 20}, [], agreements=[entry("draft", 2), entry("signed", 14)])
    assert (result["observed"], result["limit"]) == (14.0, 20.0)
