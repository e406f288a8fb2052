"""Tables that look older than they are: every time that a store or a log tells of them lies further back."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assets.contract import Contract
from pipelines.storage.tables import Tables

DAY_SECONDS = 86_400
TIMES = {"commitInfo": "timestamp", "add": "modificationTime", "remove": "deletionTimestamp"}


def age(store: Tables, contract: type[Contract], days: float) -> None:
    """Everything that there is of a table in a local folder was written so many days earlier."""
    milliseconds = round(days * DAY_SECONDS * 1000)
    for path in [path for path in Path(store.uri(contract)).rglob("*") if path.is_file()]:
        modified = path.stat().st_mtime - days * DAY_SECONDS
        if path.parent.name == "_delta_log" and path.suffix == ".json":
            path.write_text("".join(f"{_earlier(line, milliseconds)}\n" for line in path.read_text().splitlines()))
        elif path.parent.name == "_delta_log" and path.suffix == ".parquet":
            pq.write_table(_earlier_removes(pq.read_table(path), milliseconds), path)
        os.utime(path, (modified, modified))


def _earlier(line: str, milliseconds: int) -> str:
    action = json.loads(line)
    for kind, when in TIMES.items():
        if when in action.get(kind, {}):
            action[kind][when] -= milliseconds
    return json.dumps(action)


def _earlier_removes(checkpoint: pa.Table, milliseconds: int) -> pa.Table:
    if "remove" not in checkpoint.column_names:
        return checkpoint
    removes = checkpoint["remove"].combine_chunks()
    names = [field.name for field in removes.type]
    fields = [removes.field(name) for name in names]
    when = names.index("deletionTimestamp")
    fields[when] = pc.subtract(fields[when], milliseconds)
    shifted = pa.StructArray.from_arrays(fields, fields=list(removes.type), mask=removes.is_null())
    return checkpoint.set_column(checkpoint.column_names.index("remove"), "remove", shifted)
