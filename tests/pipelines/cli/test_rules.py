"""The rule sets as the command line shows them."""

import json

from assets.rulesets.loader import load_all
from tests.pipelines.cli.warehouse import Scorehouse


def test_list(scorehouse: Scorehouse) -> None:
    [v1] = [row for row in json.loads(scorehouse("rules", "list", "--json").stdout) if row["id"] == "v1"]
    assert v1 == {
        "id": "v1",
        "status": "active",
        "current": True,
        "predecessor": None,
        "digest": load_all()["v1"].digest,
        "title": "The first published rules",
    }
    assert v1["digest"][:12] in scorehouse("rules", "list").stdout


def test_show_has_every_constant(scorehouse: Scorehouse) -> None:
    shown = json.loads(scorehouse("rules", "show", "v1", "--json").stdout)
    assert shown["gameplay.player_calls"] == 1024
    assert "CancelledError" in shown["harbor.voiding_exceptions"]
    text = scorehouse("rules", "show", "v1").stdout
    assert all(name in text for name in shown if name != "digest")


def test_an_unknown_rule_set(scorehouse: Scorehouse) -> None:
    result = scorehouse("rules", "show", "v99")
    assert result.exit_code == 2
    assert "no rule set 'v99'; there are v1" in result.stderr
