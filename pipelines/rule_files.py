"""Where the files of rule sets are, and writing one whole or not at all.

Here: folders, reading and writing. Not here: what stands in a file (`assets.rulesets`). A reader meanwhile sees the
file as it was or as it is, never a part of it; what a killed process leaves behind is no rule set file by its name.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import assets.rulesets
from assets.rulesets.loader import RuleSetError

PROJECT = Path(assets.rulesets.__path__[0])
"""The folder of the project's own rule sets."""


def file_of(id_: str, team: Path | None) -> Path:
    """The file of a rule set that exists, links followed: an edit is of the file, not of the link to it."""
    own = PROJECT / f"{id_}.toml"
    return (own if team is None or own.is_file() else team / own.name).resolve()


def read(file: Path) -> str:
    """The text of a file, line endings as they are."""
    return file.read_bytes().decode()


def create(file: Path, text: str) -> None:
    """Write a new file; of several processes that do so at once exactly one succeeds.

    Raises:
        RuleSetError: there is one already, or the folder cannot be written.
    """
    try:
        with _written(file, text) as written:
            os.link(written, file)
    except FileExistsError:
        raise RuleSetError(f"{file}: exists already; choose another id") from None


def replace(file: Path, text: str) -> None:
    """Write a file anew, with the permissions that it has.

    Raises:
        RuleSetError: the folder cannot be written.
    """
    with _written(file, text) as written:
        shutil.copymode(file, written)
        written.replace(file)


@contextmanager
def _written(file: Path, text: str) -> Iterator[Path]:
    """A file beside `file` with the text in it, on disk; it is removed at the end unless it was moved."""
    path = file.with_name(f".{file.name}.{uuid.uuid4().hex}.partial")
    try:
        try:
            with path.open("xb") as opened:
                opened.write(text.encode())
                opened.flush()
                os.fsync(opened.fileno())
            yield path
        finally:
            path.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except OSError as error:
        raise RuleSetError(f"{file}: cannot be written: {error.strerror or type(error).__name__}") from None
