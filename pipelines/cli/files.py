"""The files that people ask a verb for: what is read there is whole, or what was there before.

Here: where to write, and when that becomes the file. Not here: what stands in it.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.cli.output import CommandError

DEVICES = (Path("/dev"), Path("/proc"))
"""Where names stand for what is open already: /dev/stdout is a file, too, where a shell redirects it into one."""


@contextmanager
def destination(output: Path) -> Iterator[Path]:
    """Where to write what `output` becomes when all of it is there; a device or pipe is written to directly.

    Until then its name ends in no way that a collector of such files reads. Who may read it stays as it was.

    Raises:
        OSError: nothing can be written there.
    """
    if (output.exists() and not output.is_file()) or any(map(output.absolute().is_relative_to, DEVICES)):
        yield output
        return
    try:
        target = output.resolve()  # of a link, what it points to
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        if target.exists():
            part.touch()
            shutil.copymode(target, part)
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
