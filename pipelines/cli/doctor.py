"""`scorehouse doctor`: can it read the artifacts, write the tables, reach Dagster's storage, and load the rules?

Here: one probe per question, each one line. Not here: repairs. The probe of the tables is a table of its own, written
by a real commit and removed again: a store that may be read but not committed to is found out before a run is.
"""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import fsspec
import typer
from deltalake import DeltaTable, Field, Schema
from deltalake.schema import PrimitiveType

from assets.rulesets.loader import RuleSetError, active, current, load_all
from assets.verification.contract import Verifications
from pipelines.build import artifact_store, table_store
from pipelines.cli.database import stored
from pipelines.cli.options import Json, verb
from pipelines.cli.output import print_json, say
from pipelines.instance import instance_in
from pipelines.released import refuse_changed
from pipelines.settings import Settings, load, secrets
from pipelines.storage.errors import StoreError
from pipelines.storage.failures import explaining

app = verb()


class Finding(NamedTuple):
    """What a probe found."""

    check: str
    ok: bool
    detail: str


@app.command()
def doctor(json: Json = False) -> None:
    """Check the artifacts, the tables, Dagster's storage and the rule sets: one line each; 1 if any fails."""
    settings = load()
    findings = [find(settings, name, probe) for name, probe in PROBES.items()]
    if json:
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            say(f"{'ok' if finding.ok else 'failed':<7} {finding.check:<10} {finding.detail}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def find(settings: Settings, name: str, probe: Callable[[Settings], str]) -> Finding:
    """Run one probe; whatever it raises is its finding, without credentials."""
    try:
        return Finding(name, ok=True, detail=probe(settings))
    except (StoreError, RuleSetError) as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001 - a probe is there to find out what fails
        detail = f"{type(error).__name__}: {error}"
    for secret in secrets(settings=settings):
        detail = detail.replace(secret, "***")
    return Finding(name, ok=False, detail=" ".join(detail.split()))


def probe_artifacts(settings: Settings) -> str:
    """List the root of the artifact store."""
    artifact_store(settings).check()
    return f"{settings.artifacts} can be listed"


def probe_tables(settings: Settings) -> str:
    """Commit to a table of the probe's own, and remove it."""
    tables = stored(settings)
    root = tables.root
    uri = f"{root}/_doctor_{uuid.uuid4().hex}"
    existed = "://" in root or Path(root).exists()
    with explaining(f"{root}: cannot write", tables.options):
        DeltaTable.create(
            uri,
            schema=Schema([Field("probe", PrimitiveType("string"))]),
            storage_options=dict(tables.options.delta),
        )
    with explaining(f"{uri}: written, but cannot be removed", tables.options):
        files, path = fsspec.core.url_to_fs(uri, **tables.options.fsspec)
        files.rm(path, recursive=True)
        if not existed:
            Path(root).rmdir()
    return f"{settings.tables} can be committed to"


def probe_dagster(settings: Settings) -> str:
    """Open Dagster's instance and ask it for a run."""
    with instance_in(settings.dagster_home) as opened:
        opened.get_runs(limit=1)
        return f"{settings.dagster_home} answers ({type(opened.run_storage).__name__})"


def probe_rules(settings: Settings) -> str:
    """Load every rule set and find the current one."""
    rule_sets = load_all(settings.rulesets)
    return f"{len(rule_sets)} loaded, active: {', '.join(active(rule_sets))}, current: {current(rule_sets).id}"


def probe_released(settings: Settings) -> str:
    """Compare the rule sets with those that results were published under."""
    refuse_changed(load_all(settings.rulesets), table_store(settings).notes(Verifications))
    return "no rule set was changed after results were published under it"


PROBES = {
    "artifacts": probe_artifacts,
    "tables": probe_tables,
    "dagster": probe_dagster,
    "rules": probe_rules,
    "released": probe_released,
}
