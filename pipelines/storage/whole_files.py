"""Local files that are replaced whole: a reader sees the one before or the one after, whoever writes at once.

Here: that one act. Not here: what is in the files, and rule sets, which are also created (`pipelines.rule_files`).
"""

import uuid
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Make `path` hold exactly this.

    Raises:
        OSError: it cannot be written; it is as it was.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # its name ends in no way that a reader looks for
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
