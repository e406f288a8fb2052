"""`scorehouse metrics`: where the text goes, and that a failure leaves the file as it was."""

import os
import stat
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.pipelines.cli.warehouse import Scorehouse


@pytest.mark.usefixtures("tables")
def test_the_text_is_printed(scorehouse: Scorehouse) -> None:
    result = scorehouse("metrics")
    assert (result.exit_code, result.stderr) == (0, "")
    families = {one.name: one.samples for one in text_string_to_metric_families(result.stdout)}
    counts = {one.labels["class"]: one.value for one in families["scorehouse_attempts"] if one.labels["rules"] == "v1"}
    assert (counts["ineligible"], counts["eligible"], sum(counts.values())) == (1, 1, 2)


def test_before_the_first_run_it_is_done(scorehouse: Scorehouse) -> None:
    result = scorehouse("metrics")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if not line.startswith("#")] == []


def test_a_file_is_replaced_at_once_and_can_be_read_by_others(scorehouse: Scorehouse, home: Path) -> None:
    before = os.umask(0o022)
    try:
        (home / "scorehouse.prom").write_text("older")
        assert scorehouse("metrics", "-o", "scorehouse.prom").output == ""
    finally:
        os.umask(before)
    assert (home / "scorehouse.prom").read_text(encoding="utf-8").endswith("# EOF\n")
    assert stat.S_IMODE((home / "scorehouse.prom").stat().st_mode) == 0o644
    assert [path.name for path in home.iterdir()] == ["scorehouse.prom"]


def test_what_fails_leaves_the_file_as_it_was(scorehouse: Scorehouse, home: Path) -> None:
    (home / "scorehouse.prom").write_text("older")
    log = home / ".scorehouse/tables/quarantine/_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("{")
    result = scorehouse("metrics", "-o", "scorehouse.prom")
    assert result.exit_code != 0
    assert result.stderr.count("\n") == 1
    assert (home / "scorehouse.prom").read_text() == "older"
    result = scorehouse("metrics", "-o", "absent/scorehouse.prom")
    assert result.exit_code != 0
