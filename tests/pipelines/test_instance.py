"""Dagster's instance: its folder is made as a whole."""

from pathlib import Path

import pytest

from pipelines.instance import INSTANCE_CONFIG, instance_in
from pipelines.storage.errors import StoreConfigurationError


def test_a_folder_that_could_not_be_made_is_made_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk:
        disk.setattr("pipelines.instance.INSTANCE_CONFIG", "\ud800")  # as far as nothing of it reaches the disk
        with pytest.raises(UnicodeEncodeError), instance_in(tmp_path):
            pass
    assert not (tmp_path / "dagster.yaml").exists()
    with instance_in(tmp_path) as opened:
        assert not opened.telemetry_enabled
    assert (tmp_path / "dagster.yaml").read_text(encoding="utf-8") == INSTANCE_CONFIG


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(StoreConfigurationError, match="cannot hold Dagster's storage"), instance_in(tmp_path / "home"):
        pass
