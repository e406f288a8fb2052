"""Fixtures that tests of several folders share: a clean credential environment, a real S3 server, worker processes."""

import multiprocessing
import os
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.s3 import S3Server, running_server

PROCESSES = 8


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the S3 server."""
    for item in items:
        if "s3_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.s3)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credential, profile, role or setting of the machine reaches a test."""
    for name in os.environ:
        if name.startswith(("AWS_", "SCOREHOUSE_", "DAGSTER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A real S3 server."""
    with running_server() as server:
        yield server


@pytest.fixture
def s3_bucket(s3_server: S3Server) -> str:
    """A fresh bucket of the server."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    s3_server.client.create_bucket(Bucket=name)
    return name


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Eight worker processes, started afresh as production starts them."""
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool
