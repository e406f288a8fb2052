"""The files that people ask a verb for: what is read there is whole, or what was there before.

Here: where to write, and when that becomes the file. Not here: what stands in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.cli.output import CommandError


@contextmanager
def destination(output: Path) -> Iterator[Path]:
    """Where to write what `output` becomes when all of it is there; a device or pipe is written to directly.

    Until then its name ends in no way that a collector of such files reads.
    """
    if output.exists() and not output.is_file():
        yield output
        return
    target = output.resolve()  # of a link, what it points to
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def write_text(output: Path, text: str) -> None:
    """Make the file hold this text.

    Raises:
        CommandError: it cannot be written; it is as it was.
    """
    try:
        with destination(output) as path:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{output}: cannot be written: {error.strerror or error}") from error
