"""A small warehouse, and the command line on it."""

import datetime as dt
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assets.attempts.contract import Attempts, Questions
from assets.landing.contract import Quarantine, RawArtifacts
from assets.verification.contract import Verifications
from pipelines.cli.main import app
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, HOSTILE, NOON, Scorehouse, arrival, attempt, store, verdict


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tables(home: Path, template: Tables) -> Tables:
    """The warehouse in the embedded place."""
    folder = home / ".scorehouse/tables"
    shutil.copytree(template.url, folder)
    return Tables(str(folder))


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Attempts on two days, their verdicts, arrivals and a quarantine."""
    warehouse = Tables(str(tmp_path_factory.mktemp("warehouse")))
    late = NOON + dt.timedelta(days=2)
    store(
        warehouse,
        Attempts,
        attempt("worldseq:a", DAY_1, finalized_at=NOON, model_name="=cmd()"),
        attempt("worldseq:b", DAY_1, finalized_at=None, model_name=HOSTILE),
        attempt("worldseq:a", DAY_2, finalized_at=late, shape="finalizer", has_evidence=False),
        attempt("worldseq:b", DAY_2, finalized_at=NOON, elapsed_seconds=1.5),
    )
    store(
        warehouse,
        Verifications,
        verdict("worldseq:a", DAY_1, "ineligible", failed_predicates=["floor", "end"]),
        verdict("worldseq:b", DAY_1, "inconclusive"),
        verdict("worldseq:a", DAY_2, "eligible"),
        verdict("worldseq:b", DAY_2, "eligible", primary_value=-2.5),
        verdict("worldseq:b", DAY_2, "ineligible", rules="v0"),
    )
    store(
        warehouse,
        Questions,
        *(
            {
                "attempt_id": "worldseq:b",
                "landed_on": day,
                "question_id": "q",
                "position": 0,
                "kind": "categorical",
                "due_on_day": 3,
                "required": False,
                "candidates": ["x", 'y"'],
                "equivalence_groups": [["x"], ['y"']],
            }
            for day in (DAY_1, DAY_2)
        ),
    )
    store(
        warehouse,
        RawArtifacts,
        arrival("/store/x.json", b'{"a": 1, "trajectory": [{"day": 0, "cashCents": 1.5}]}'),
        arrival("/store/y.json", b"\xff\x1b[31m" + b"{" * 300),
    )
    found = {"source": "worldseq", "landed_on": DAY_1}
    store(
        warehouse,
        Quarantine,
        {
            "uri": "/store/x.json",
            "stage": "decode",
            "reason": "wrong_type",
            "path": "$.trajectory[0].cashCents",
            "detail": "Expected `int`, got `float`",
            **found,
        },
        {"uri": "/store/y.json", "stage": "decode", "reason": "not_json", "path": "byte 0", "detail": HOSTILE, **found},
        {"uri": "/store/z.json", "stage": "fetch", "reason": "too_large", **found},
    )
    return warehouse


@pytest.fixture
def scorehouse(home: Path) -> Scorehouse:
    """Run `scorehouse` with these arguments."""
    del home

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run
