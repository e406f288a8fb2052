"""Files that a verb writes: whole, or as they were."""

import os
import stat
from pathlib import Path

import pytest

from pipelines.cli.files import destination, write_text
from pipelines.cli.output import CommandError


def test_a_text_replaces_what_was_there(tmp_path: Path) -> None:
    for text in ("first", "second"):
        write_text(tmp_path / "a.html", text)
        assert (tmp_path / "a.html").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_what_fails_halfway_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    write_text(file, "before")
    with pytest.raises(UnicodeEncodeError), destination(file) as path:
        path.write_text("half and a surrogate \ud800", encoding="utf-8")
    assert (file.read_text(), len(list(tmp_path.iterdir()))) == ("before", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line_and_no_wrong_usage(tmp_path: Path) -> None:
    for output, reason in ((Path("/dev/full"), "No space left"), (tmp_path / "absent" / "a.html", "No such file")):
        with pytest.raises(CommandError, match=f"{output}: cannot be written: {reason}") as failed:
            write_text(output, "text")
        assert failed.value.status == 1


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)


def test_who_may_read_a_file_stays_so(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.touch(mode=0o600)
    with destination(private) as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        part.write_text("text", encoding="utf-8")
    assert (stat.S_IMODE(private.stat().st_mode), private.read_text()) == (0o600, "text")


def test_a_name_may_be_as_long_as_names_are(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "text")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_a_link_to_itself_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(CommandError, match="loop: cannot be written: Too many levels of symbolic links"):
        write_text(tmp_path / "loop", "text")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no names for what is open")
def test_what_is_open_already_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    with (tmp_path / "redirected").open("a+", encoding="utf-8") as file:
        write_text(Path(f"/dev/fd/{file.fileno()}"), "text")
        file.write(" and more")
    assert (tmp_path / "redirected").read_text() == "text and more"
    assert len(list(tmp_path.iterdir())) == 1
