"""How a refused document is told, and what the decoders share."""

import datetime as dt
import gc

import pytest

from assets.contract import schema
from assets.landing.contract import Quarantine
from assets.sources.documents import Document, Fault, Refused, located, quarantine, storable, uncollected

DOCUMENT = Document(
    "s/a.json", "a.json", "worldseq", dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "00ff", b""
)


@pytest.mark.parametrize(
    ("within", "path", "expected"),
    [
        (None, "$.a", "$.a"),
        ("$.cases[3]", "$.a[0]", "$.cases[3].a[0]"),
        ("$.cases[3]", "$", "$.cases[3]"),
        ("line 3", "$.a", "line 3: $.a"),
        ("line 3", "byte 7", "line 3: byte 7"),
        ("line 3", None, "line 3"),
        ("line 3: $.cases[1]", "$.a", "line 3: $.cases[1].a"),
        ("line 3: $.cases[1]", "$", "line 3: $.cases[1]"),
        (None, None, None),
    ],
)
def test_the_path_of_an_offence_inside_a_part(within: str | None, path: str | None, expected: str | None) -> None:
    assert located(within, path) == expected


def test_quarantine_rows() -> None:
    frame = quarantine([Refused(DOCUMENT, Fault("odd", "$.\ud800", "\ud800 found"), "line 2", "worldseq:x")])
    assert dict(frame.schema) == schema(Quarantine)
    assert frame.row(0) == (
        "s/a.json",
        "worldseq",
        dt.date(2026, 1, 2),
        "decode",
        "odd",
        "line 2: $.\\ud800",
        "\\ud800 found",
        "00ff",
        "worldseq:x",
    )
    assert dict(quarantine([]).schema) == schema(Quarantine)


def test_storable_text() -> None:
    assert storable("a\ud800😀") == "a\\ud800😀"
    assert storable(None) is None


def test_collection_is_as_it_was_afterwards() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
