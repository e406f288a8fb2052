"""What a rule set changes, as it is shown."""

import json

import pytest

from assets.reconciliation.change_summary import ClassChange, Counts, Responsible, Summary
from pipelines.cli.changes import changes_json, print_changes
from pipelines.cli.output import json_text

SOME = Counts(
    attempts=9,
    class_=8,
    reward=9,
    classes=[ClassChange("eligible", "ineligible", 7), ClassChange(None, "eligible", 1)],
    predicates=[Responsible(f"p{number}\x1b", "cash_floor", 9 - number) for number in range(7)],
)


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_changes(Summary(SOME, {"cmp": Counts(1, 0, 1, 0), None: SOME}))
    header, cmp, none, all_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["campaign", "attempts", "class", "primary_value", "reward", "classes", "predicates"]
    assert cmp.split() == ["cmp", "1", "0", "1", "0"]
    assert none.startswith("(no campaign)")
    assert all_.split("  ")[0] == "all"
    assert "eligible → ineligible 7, none → eligible 1" in all_
    assert all_.endswith(r"p0\x1b 9, p1\x1b 8, p2\x1b 7, p3\x1b 6, p4\x1b 5, and 2 more")


def test_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_changes(Summary(Counts(), {}))
    assert capsys.readouterr().out == "No attempt changes its class, its primary value or its reward.\n"


def test_json() -> None:
    told = json.loads(json_text(changes_json(Summary(SOME, {None: SOME}))))
    assert (told["overall"]["class"], len(told["overall"]["predicates"])) == (8, 7)
    assert told["overall"]["classes"][1] == {"before": None, "after": "eligible", "attempts": 1}
    assert told["campaigns"] == [{"campaign_id": None, **told["overall"]}]
