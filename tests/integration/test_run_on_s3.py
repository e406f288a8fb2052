"""The same store from a local disk and from a real S3 server gives the same tables; a wrong store one clear line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.hostile import objects
from tests.integration.warehouses import differing, everything, ran, settings, write
from tests.s3 import S3Server


def test_local_and_s3_give_identical_tables(tmp_path: Path, s3_server: S3Server, s3_bucket: str) -> None:
    write(tmp_path)
    local = settings(tmp_path)
    ran(local)
    for key, content in objects().items():
        s3_server.put(s3_bucket, f"store/{key}", content)
    remote = settings(
        tmp_path,
        artifacts=f"s3://{s3_bucket}/store",
        tables=f"s3://{s3_bucket}/tables",
        aws=s3_server.variables(),
    )
    summary = ran(remote)
    assert differing(everything(local), everything(remote)) == []
    assert ran(remote).fetched == 0
    assert summary.fetched > 0


def scorehouse(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli.main", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("changes", "bucket", "status"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong-secret-5f3a"}, None, 2),
        ({"AWS_ACCESS_KEY_ID": "nobody-91c2"}, None, 2),
        ({}, "no-such-bucket", 2),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, None, 1),
    ],
    ids=["wrong secret", "unknown key", "missing bucket", "unreachable"],
)
def test_a_wrong_store_is_one_clear_line(
    changes: dict[str, str], bucket: str | None, status: int, tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    s3_server.put(s3_bucket, "store/worldseq/2026-11-29/a.json")
    environment = {
        **s3_server.variables(),
        **changes,
        "SCOREHOUSE_ARTIFACTS": f"s3://{bucket or s3_bucket}/store",
        "SCOREHOUSE_TABLES": str(tmp_path / "tables"),
    }
    told = scorehouse(environment, tmp_path, "run")
    assert told.returncode == status
    assert len(told.stderr.strip().splitlines()) == 1
    assert environment["SCOREHOUSE_ARTIFACTS"] in told.stderr
    output = told.stdout + told.stderr
    assert not [
        secret for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID") if (secret := environment[name]) in output
    ]
    assert not (tmp_path / "tables").exists()
