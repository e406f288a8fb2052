"""A plan tells which campaigns come to another verdict, and the backfill then finds just those."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from assets.campaigns.contract import CampaignComparisons
from pipelines.build import table_store
from pipelines.campaigns import verdicts
from pipelines.cli import demo_campaigns, demo_worldseq
from pipelines.cli.demo_campaigns import CONCLUSIVE, INCOMPLETE
from pipelines.cli.demo_files import DAYS
from pipelines.plan import Flip, changed, plan
from pipelines.settings import Settings
from tests.integration.backfills import bump, copied, done
from tests.integration.warehouses import ran, settings, write
from tests.s3 import S3Server

STRICT = (("player_calls = 1024", "player_calls = 1"), ("minimum_companies = 6", "minimum_companies = 60"))


def campaign_files() -> dict[str, bytes]:
    made = [*demo_campaigns.files(1), *demo_worldseq.files(1)]
    return {file.key: file.content for file in made if "campaigns/" in file.key or "/cmp-" in file.key}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two campaigns, compared under v1; v2 lets few attempts through, and asks for more companies than there are."""
    folder = tmp_path_factory.mktemp("compared")
    write(folder, campaign_files())
    where = replace(settings(folder), rulesets=folder / "rulesets")
    bump(where, "v2", "v1", *STRICT)
    ran(where)
    return where


def told(where: Settings, rules: str) -> dict[str, str]:
    return {row["campaign_id"]: row["verdict"] for row in verdicts(where, rules=[rules])}


def test_a_verdict_that_flips_is_told_and_then_found(compared: Settings, tmp_path: Path) -> None:
    where = copied(compared, tmp_path)
    version = table_store(where).version(CampaignComparisons)
    planned = plan(where, "v2")
    assert planned.campaigns == 2
    assert table_store(where).version(CampaignComparisons) == version
    assert told(where, "v2") == {}
    before = told(where, "v1")
    done(where, "v2")
    after = told(where, "v2")
    assert planned.flips == [Flip(id_, before[id_], after[id_]) for id_ in sorted(after) if before[id_] != after[id_]]
    assert planned.flips == [Flip(CONCLUSIVE, "pass", "inconclusive")]
    assert told(where, "v1") == before
    assert plan(where, "v2").flips == planned.flips


def test_comparisons_under_the_predecessor_that_are_not_made_yet(compared: Settings, tmp_path: Path) -> None:
    where = copied(compared, tmp_path)
    for name in ("campaign_pairs", "campaign_effects", "campaign_comparisons"):
        shutil.rmtree(Path(where.tables) / name)
    planned = plan(where, "v2")
    assert (planned.campaigns, [flip.campaign_id for flip in planned.flips]) == (2, [CONCLUSIVE])
    assert planned.flips[0].before == "pass"
    assert not (Path(where.tables) / "campaign_comparisons").exists()


def test_on_s3_a_plan_is_what_the_backfill_then_does(compared: Settings, s3_server: S3Server, s3_bucket: str) -> None:
    for path in Path(compared.tables).rglob("*"):
        if path.is_file():
            s3_server.put(s3_bucket, f"tables/{path.relative_to(compared.tables)}", path.read_bytes())
    where = replace(compared, tables=f"s3://{s3_bucket}/tables", aws=s3_server.variables())
    held = s3_server.client.list_objects_v2(Bucket=s3_bucket)["KeyCount"]
    planned = plan(where, "v2", to_day=DAYS[0])
    assert s3_server.client.list_objects_v2(Bucket=s3_bucket)["KeyCount"] == held
    assert (planned.partitions, planned.fresh) == (1, 0)
    summary = done(where, "v2", to_day=DAYS[0])
    assert planned.attempts == summary.attempts > 0
    assert planned.changes == changed(table_store(where), "v2", summary.days)
    assert planned.changes.overall.attempts > 0
    assert done(where, "v2", to_day=DAYS[0]).computed == {}


def test_without_results_under_the_predecessor_no_verdict_flips(compared: Settings, tmp_path: Path) -> None:
    where = copied(compared, tmp_path)
    bump(where, "v3", "v2")
    planned = plan(where, "v3")
    assert len(planned.not_compared) == len(planned.days)
    assert planned.changes.overall.attempts == 0
    assert [flip.before for flip in planned.flips] == [None] * len(planned.flips)
    assert {flip.campaign_id for flip in planned.flips} <= {CONCLUSIVE, INCOMPLETE}
