"""Dagster's web interface on a warehouse, in Chromium: what it shows, and a backfill that is started by clicks."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assets.tables import TABLES, layer
from pipelines.instance import instance_in
from pipelines.run import run
from pipelines.settings import Settings
from tests.integration.hostile import full, text
from tests.integration.test_report_in_browser import browser
from tests.integration.warehouses import rows, settings, stable, versions, write, written
from tests.pipelines.cli.processes import command, environment

__all__ = ["browser"]  # a fixture

pytestmark = pytest.mark.slow

DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"]
WAIT_SECONDS = 120
POLL_SECONDS = 0.5
SHOTS = os.environ.get("SHOTS")
"""A folder for screenshots, for whoever wants to look."""
RUNS = """{ runsOrError(filter: {pipelineName: "results"}, limit: 1) { ... on Runs { results {
    runId status tags { key value } eventConnection(limit: 1000) { events {
        ... on MaterializationEvent { assetKey { path } partition metadataEntries { label
            ... on IntMetadataEntry { intValue } } } } } } } } }"""


class Interface(NamedTuple):
    """A running web interface, and the warehouse behind it."""

    where: Settings
    url: str

    def ask(self, query: str) -> Any:
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.url}/graphql",
            data=json.dumps({"query": query}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - likewise
            return json.load(response)["data"]

    def finished(self, before: str) -> dict[str, Any]:
        """The run of the results after that one, once it has ended."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            found: list[dict[str, Any]] = self.ask(RUNS)["runsOrError"]["results"]
            if found and found[0]["runId"] != before and found[0]["status"] in {"SUCCESS", "FAILURE", "CANCELED"}:
                return found[0]
            time.sleep(POLL_SECONDS)
        raise TimeoutError(found)

    def newest(self) -> str:
        """The newest run of the results."""
        return str(self.ask(RUNS)["runsOrError"]["results"][0]["runId"])


@pytest.fixture(scope="module")
def interface(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interface]:
    """Three days under v1, a torn document among them, and a rule set v2 that is active and has no results yet."""
    folder = tmp_path_factory.mktemp("ui")
    store = {f"worldseq/{day}/a.json": text(full(f"a{day}")) for day in DAYS}
    write(folder, {**store, f"worldseq/{DAYS[0]}/torn.json": text(full("torn"))[:-5]})
    (folder / "own").mkdir()
    v1 = (Path(__file__).parents[2] / "assets/rulesets/v1.toml").read_text(encoding="utf-8")
    v2 = v1.replace('id = "v1"', 'id = "v2"\npredecessor = "v1"').replace("player_calls = 1024", "player_calls = 1")
    (folder / "own/v2.toml").write_text(v2, encoding="utf-8")
    where = settings(folder, rulesets=folder / "own")
    run(where, rules=["v1"])
    with instance_in(where.dagster_home) as instance:
        instance.add_dynamic_partitions("rules", ["v2"])  # as the sensor does within minutes
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    variables = {
        "SCOREHOUSE_ARTIFACTS": where.artifacts,
        "SCOREHOUSE_TABLES": where.tables,
        "SCOREHOUSE_RULESETS": str(where.rulesets),
        "DAGSTER_HOME": str(where.dagster_home),
    }
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command("ui", "--port", str(port)),
            cwd=folder,
            env=environment(**variables),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as running,
    ):
        made = Interface(where, f"http://127.0.0.1:{port}")
        try:
            deadline = time.monotonic() + WAIT_SECONDS
            while True:
                try:
                    made.ask("{ version }")
                    break
                except (urllib.error.URLError, ConnectionError):
                    told = (folder / "log").read_text(encoding="utf-8")
                    assert running.poll() is None, told
                    assert time.monotonic() < deadline, told
                    time.sleep(POLL_SECONDS)
            yield made
        finally:
            os.killpg(running.pid, signal.SIGKILL)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1500, "height": 1000})
    opened.set_default_timeout(WAIT_SECONDS * 1_000)
    yield opened
    opened.close()


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(1500)
        page.screenshot(path=f"{SHOTS}/{name}.png")


def shown(page: Any, *texts: str) -> None:
    """Wait until each of these is to be seen."""
    for one in texts:
        page.get_by_text(one, exact=True).locator("visible=true").first.wait_for()


def test_the_graph_shows_the_layers_and_their_assets(interface: Interface, page: Any) -> None:
    page.goto(f"{interface.url}/asset-groups")
    shown(page, "landing", "attempts", "verification", "assessments", "rewards", "reconciliation", "campaigns")
    shot(page, "groups")
    page.goto(f"{interface.url}/locations/scorehouse/asset-groups/verification/lineage")
    shown(page, "predicate_results", "verifications")
    shot(page, "lineage")


def test_the_partitions_are_days_by_rule_sets(interface: Interface, page: Any) -> None:
    page.goto(f"{interface.url}/assets/verifications?view=partitions")
    shown(page, f"Materialized ({len(DAYS)})", "v1", "v2", *DAYS)
    shot(page, "matrix")


def test_a_warning_is_to_be_seen(interface: Interface, page: Any) -> None:
    page.goto(f"{interface.url}/assets/quarantine?view=checks")
    page.get_by_text("quarantine_rate", exact=True).locator("visible=true").first.click()
    shown(page, "Failed", "problems")
    shot(page, "warning")


def launch(page: Any, interface: Interface, days: str, rules: str) -> None:
    """Start the results of some days from the page of their job: a backfill, or a run where it is one day."""
    page.goto(f"{interface.url}/locations/scorehouse/jobs/results")
    page.get_by_role("button", name="Materialize all").first.click()
    dialog = page.get_by_role("dialog").filter(has_text="Partition selection")  # the choice of rules is one, too
    chosen = dialog.get_by_placeholder("ex: 2020")
    chosen.fill(days)
    chosen.press("Enter")
    dialog.get_by_text("Select a partition or create one").click()
    page.get_by_role("menuitem").or_(page.locator("label")).filter(has_text=rules).first.click()
    page.keyboard.press("Escape")
    shot(page, f"dialog-{len(days)}")
    dialog.get_by_role("button", name=re.compile("^Launch")).click()
    dialog.wait_for(state="hidden")


def computed(run_: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Of how many partitions each materialization of a run says that they were computed."""
    found = {}
    for event in run_["eventConnection"]["events"]:
        figures = {entry["label"]: entry.get("intValue") for entry in event.get("metadataEntries", ())}
        if "computed" in figures:
            found[event["assetKey"]["path"][0], event["partition"]] = figures["computed"]
    return found


def test_a_backfill_computes_the_chosen_days_under_the_chosen_rules_and_nothing_twice(
    interface: Interface, page: Any
) -> None:
    where, begun, before = interface.where, versions(interface.where), rows(interface.where, "verifications")
    results = [name for name in TABLES if layer(name) == "results"]
    chosen = DAYS[1:]

    of_v1 = interface.newest()
    launch(page, interface, f"[{chosen[0]}...{chosen[-1]}]", "v2")
    first = interface.finished(of_v1)

    assert first["status"] == "SUCCESS"
    assert written(where, begun) == {name: {(day, "v2"): 1 for day in chosen} for name in results}
    assert computed(first) == {(name, f"{day}|v2"): len(chosen) for name in results for day in chosen}
    after = rows(where, "verifications")
    assert stable(after.filter(after["rules"] == "v1")).equals(before)
    assert after.filter(after["rules"] == "v2")["class"].to_list() == ["ineligible"] * len(chosen)
    page.goto(f"{interface.url}/assets/verifications?view=partitions")
    shown(page, f"Materialized ({len(DAYS) + len(chosen)})")
    shot(page, "matrix-after")

    begun = versions(where)
    launch(page, interface, chosen[0], "v2")
    again = interface.finished(first["runId"])

    assert again["status"] == "SUCCESS"
    assert computed(again) == {(name, f"{chosen[0]}|v2"): 0 for name in results}
    assert written(where, begun) == {}
