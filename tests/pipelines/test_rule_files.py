"""Files of rule sets are written whole or not at all, and never over another."""

import os
import resource
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from assets.rulesets.loader import RuleSetError
from pipelines.rule_files import PROJECT, create, file_of, read, replace


def test_a_file_is_read_and_written_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "v2.toml"
    create(file, "a\r\nä\n")
    assert (file.read_bytes(), read(file)) == ("a\r\nä\n".encode(), "a\r\nä\n")
    replace(file, "b\r")
    assert file.read_bytes() == b"b\r"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "v2.toml"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(RuleSetError, match=r"v2\.toml: exists already"):
        create(file, "yours")
    assert (file.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("mine", [file])


def test_of_many_at_once_exactly_one_succeeds(tmp_path: Path) -> None:
    count = 8
    start = threading.Barrier(count)

    def attempt(file: Path, text: str) -> str | None:
        start.wait()
        try:
            create(file, text)
        except RuleSetError:
            return None
        return text

    with ThreadPoolExecutor(count) as pool:
        for number in range(20):
            file = tmp_path / f"v{number}.toml"
            won = [text for text in pool.map(attempt, [file] * count, map(str, range(count))) if text is not None]
            assert [file.read_text(encoding="utf-8")] == won
    assert len(list(tmp_path.iterdir())) == 20


def test_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "v2.toml"
    create(file, "a")
    file.chmod(0o640)
    replace(file, "b")
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    create(tmp_path / "v2.toml", "a")
    (tmp_path / "team/v2.toml").symlink_to(tmp_path / "v2.toml")
    replace(file_of("v2", tmp_path / "team"), "b")
    assert (tmp_path / "team/v2.toml").is_symlink()
    assert (tmp_path / "v2.toml").read_text(encoding="utf-8") == "b"


def test_the_projects_own_come_first(tmp_path: Path) -> None:
    assert file_of("v1", tmp_path) == file_of("v1", None) == PROJECT.resolve() / "v1.toml"


@contextmanager
def full_disk() -> Iterator[None]:
    """Every write to a file fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "v2.toml"
    create(file, "a")
    for name, write in {"v2.toml": replace, "v3.toml": create}.items():
        with full_disk(), pytest.raises(RuleSetError, match=rf"{name}: cannot be written: File too large"):
            write(tmp_path / name, "b")
    assert (file.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("a", [file])


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match=r"v2\.toml: cannot be written: No such file or directory"):
        create(tmp_path / "nowhere/v2.toml", "a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RuleSetError, match=r"v2\.toml: cannot be written: Permission denied"):
        create(tmp_path / "v2.toml", "a")
