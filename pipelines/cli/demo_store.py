"""The example store: what `scorehouse demo` lands. The same seed gives the same bytes on every machine.

Here: putting the sources' files together, and writing them. Not here: which files a source has (`demo_worldseq`,
`demo_harbor`, `demo_agentforge`, `demo_agentcompass`, `demo_campaigns`).
"""

import os
from pathlib import Path

from pipelines.cli import demo_agentcompass, demo_agentforge, demo_campaigns, demo_harbor, demo_worldseq
from pipelines.cli.demo_files import StoredFile
from pipelines.cli.output import UsageError

MARKER = ".scorehouse-demo"
"""A file with this name says that a folder is the demo's own, and may be written again."""

SOURCES = (demo_worldseq, demo_harbor, demo_agentforge, demo_agentcompass, demo_campaigns)


def files(seed: int = 1) -> list[StoredFile]:
    """Every file of the store, sorted by key."""
    return sorted(file for source in SOURCES for file in source.files(seed))


def own_folder(location: str, what: str) -> Path:
    """The folder, if a demo may write there: a local one that is absent, empty, or an earlier demo's.

    Raises:
        UsageError: it may not; nothing has been written.
    """
    path = Path(location.removeprefix("file://"))
    if "://" in location and not location.startswith("file://"):
        raise UsageError(f"{location}: the demo writes into local folders only; unset SCOREHOUSE_{what.upper()}")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: is no folder; set SCOREHOUSE_{what.upper()} to one that the demo may fill")
    if path.exists() and any(path.iterdir()) and not (path / MARKER).exists():
        raise UsageError(
            f"{path}: holds {what} that are not a demo's; set SCOREHOUSE_{what.upper()} to an empty folder"
        )
    return path


def mark(folder: Path) -> None:
    """Make the folder the demo's own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("Made by `scorehouse demo`; safe to delete.\n", encoding="utf-8")


def write(folder: Path, seed: int = 1) -> int:
    """Write the store below `folder` and return the number of its files; what is there already stays untouched.

    The marker comes first, so that an interrupted demo knows its own folder again.
    """
    mark(folder)
    stored = files(seed)
    for file in stored:
        path = folder / file.key
        if path.is_file() and path.read_bytes() == file.content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        seconds = file.modified.timestamp()
        os.utime(path, (seconds, seconds))  # precedence looks at it: equal on every machine
    return len(stored)
