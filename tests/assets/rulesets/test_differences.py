"""Two rule sets, constant by constant."""

from pathlib import Path

import pytest

from assets.rulesets.differences import Difference, differences
from assets.rulesets.loader import RuleSet, parse

V1 = (Path(__file__).parents[3] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")


def v1(old: str = "", new: str = "") -> RuleSet:
    assert old in V1
    return parse(V1.replace(old, new) if old else V1, "v1.toml")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", []),
        ('"active"', '"retired"', []),
        ("The first published rules", "Others", []),
        ("player_calls = 1024", "player_calls = 512", [Difference("gameplay.player_calls", 1024, 512)]),
        ("token_budget = true", "token_budget = false", [Difference("gameplay.token_budget", True, False)]),
        ("ineligible = 0.0", "ineligible = -0.0", [Difference("reward.ineligible", 0.0, -0.0)]),
        (
            '["company", "task"]',
            '["task", "family"]',
            [Difference("campaign.resampled_levels", ["company", "task"], ["task", "family"], ["family"], ["company"])],
        ),
        (
            '["company", "task"]',
            '["task", "company"]',
            [Difference("campaign.resampled_levels", ["company", "task"], ["task", "company"], [], [])],
        ),
    ],
)
def test_differences(old: str, new: str, found: list[Difference]) -> None:
    assert differences(v1(), v1(old, new)) == found


def test_they_come_in_the_order_of_the_file() -> None:
    found = differences(v1(), v1("1000000.0", "5.0"))
    assert [one.constant for one in found] == [
        f"primary.{metric}.scale" for metric in ("net_cash", "net_assets", "operating_margin")
    ]
