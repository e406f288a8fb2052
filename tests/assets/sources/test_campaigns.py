"""The campaigns source: what registrations become, what is refused where, and which one a newer one supersedes."""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assets.attempts.contract import DAY_METRICS
from assets.attempts.precedence import resolve
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import conform, empty, schema
from assets.landing.contract import Quarantine
from assets.sources import campaigns
from assets.sources.campaigns import campaign_key
from assets.sources.documents import CANDIDATES, SIDE_FILES, Decoded, Document, Limits
from tests.assets.sources.campaign_documents import CAMPAIGN, CASE, decode, document
from tests.assets.sources.test_worldseq_fuzz import TOKENS, places, with_token
from tests.assets.sources.worldseq_documents import ABSENT, DAY, MODIFIED, as_bytes, changed, only

RAW = as_bytes(CAMPAIGN)
REGISTRATIONS, VERSIONS = "campaign_registrations", "campaign_versions"


def named(campaign_id: Any, **fields: Any) -> dict[str, Any]:
    return CAMPAIGN | {"campaignId": campaign_id} | fields


def check(decoded: Decoded) -> None:
    """Every frame fulfils its contract, and every document has one number."""
    assert dict(decoded.frames[REGISTRATIONS].schema) == {"document": pl.Int64(), **schema(CampaignRegistrations)}
    conform(CampaignRegistrations, decoded.frames[REGISTRATIONS].drop("document"))
    assert dict(decoded.frames[VERSIONS].schema) == campaigns.PARTS[VERSIONS]
    assert dict(decoded.candidates.schema) == CANDIDATES
    assert dict(decoded.side_files.schema) == SIDE_FILES
    conform(Quarantine, decoded.quarantine)
    numbers = decoded.candidates["document"].to_list()
    assert numbers == decoded.frames[REGISTRATIONS]["document"].to_list()
    assert numbers == decoded.frames[VERSIONS]["document"].to_list()


@pytest.mark.parametrize("contents", [[], [b"{"], [CAMPAIGN, b"{", named("other")]])
def test_every_frame_fulfils_its_contract(contents: list[Any]) -> None:
    check(decode(*contents))


def test_the_row_of_a_registration() -> None:
    canonical = json.dumps(CAMPAIGN, sort_keys=True, separators=(",", ":")).encode()
    of_family = {"family_id": "pricing", "company_id": "acme", "task_id": "raise-price", "scenario_id": "s1"}
    assert only(decode(CAMPAIGN).frames[REGISTRATIONS]) == {
        "document": 0,
        "campaign_id": "cmp-pricing",
        "campaign_key": campaign_key("cmp-pricing"),
        "landed_on": DAY,
        "uri": "memory://store/campaigns/0.json",
        "last_modified": MODIFIED,
        "vanished": False,
        "registration_digest": hashlib.sha256(canonical).hexdigest(),
        "title": "Planner 2.1 against 2.0",
        "metric": "objectiveSuccess",
        "direction": "higher_is_better",
        "baseline_arm": "baseline",
        "treatment_arm": "treatment",
        "expectation": "improvement",
        "tolerance": 0.05,
        "inventory": [
            of_family | {"repeat": 1},
            of_family | {"repeat": 2},
            of_family | {"family_id": "cash", "repeat": 1},
        ],
    }


def test_the_candidates_of_a_batch() -> None:
    decoded = decode(CAMPAIGN, b"{", named("other"), first=100)
    assert decoded.next_document == 102
    columns = ("document", "attempt_id", "source", "landed_on", "shape", "path")
    assert decoded.candidates.select(columns).rows() == [
        (100, None, "campaigns", DAY, "registration", None),
        (101, None, "campaigns", DAY, "registration", None),
    ]
    assert decoded.candidates["digest"][0] == decoded.candidates["sha256"][0] == hashlib.sha256(RAW).hexdigest()


def test_its_precedence_ranks_the_candidates() -> None:
    copy = document(CAMPAIGN, "copy.json", MODIFIED + dt.timedelta(seconds=1))
    decoded = decode(CAMPAIGN, named("other"), copy)
    none = pl.DataFrame(schema={"document": pl.Int64(), "field": pl.String(), "value": pl.Float64()})
    recorded = none.with_columns(value_type=pl.lit(""), text=pl.lit(""))
    resolution = resolve(decoded.candidates, recorded, decoded.side_files, campaigns.PRECEDENCE)
    assert sorted(resolution.recorded["document"]) == [1, 2]
    assert resolution.quarantine.is_empty()


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (CAMPAIGN | {"note": None}, True),
        (json.dumps(CAMPAIGN, indent=2, sort_keys=True).encode(), True),
        (CAMPAIGN | {"tolerance": 0.06}, False),
        (CAMPAIGN | {"title": None}, False),
        (CAMPAIGN | {"note": {"any": 1}}, False),
        (changed("inventory.2", ABSENT, CAMPAIGN), False),
    ],
)
def test_the_digest_is_that_of_the_content(other: Any, same: bool) -> None:
    digests = decode(CAMPAIGN, other).frames[REGISTRATIONS]["registration_digest"]
    assert (digests[0] == digests[1]) is same


@pytest.mark.parametrize(
    ("content", "stage", "reason", "path"),
    [
        # What is no registration.
        (b"", "decode", "empty", "byte 0"),
        (RAW[:-1], "decode", "not_json", f"byte {len(RAW) - 1}"),
        (RAW.replace(b"0.05", b"NaN"), "decode", "not_json", f"byte {RAW.index(b'0.05')}"),
        (RAW.replace(b"acme", b"\xffcme"), "decode", "not_utf8", f"byte {RAW.index(b'acme')}"),
        ([CAMPAIGN], "decode", "unknown_shape", "$"),
        (changed("format", ABSENT, CAMPAIGN), "decode", "unknown_shape", "$"),
        (CAMPAIGN | {"format": "worldseq-campaign/2"}, "decode", "unknown_shape", "$.format"),
        (CAMPAIGN | {"format": ["worldseq-campaign/1"]}, "decode", "unknown_shape", "$.format"),
        # Missing, of another type, beyond its range, out of its vocabulary.
        *(
            (changed(name, gone, CAMPAIGN), "decode", "missing_field", f"$.{name}")
            for name in CAMPAIGN
            if name not in {"format", "title"}
            for gone in (ABSENT, None)
        ),
        *(
            (CAMPAIGN | {name: 7}, "decode", "wrong_type", f"$.{name}")
            for name in CAMPAIGN
            if name not in {"format", "tolerance"}
        ),
        (CAMPAIGN | {"tolerance": "0.05"}, "decode", "wrong_type", "$.tolerance"),
        (CAMPAIGN | {"tolerance": True}, "decode", "wrong_type", "$.tolerance"),
        (CAMPAIGN | {"tolerance": -0.01}, "decode", "out_of_range", "$.tolerance"),
        (RAW.replace(b"0.05", b"1e999"), "decode", "out_of_range", "$.tolerance"),
        (CAMPAIGN | {"direction": "higher"}, "decode", "unknown_value", "$.direction"),
        (CAMPAIGN | {"expectation": "Improvement"}, "decode", "unknown_value", "$.expectation"),
        *((named(bad), "decode", "bad_identifier", "$.campaignId") for bad in ("", "x" * 201, "a\nb", "\ud800")),
        (CAMPAIGN | {"baselineArm": ""}, "decode", "bad_identifier", "$.baselineArm"),
        (CAMPAIGN | {"treatmentArm": "\x7f"}, "decode", "bad_identifier", "$.treatmentArm"),
        (CAMPAIGN | {"inventory": {}}, "decode", "wrong_type", "$.inventory"),
        (changed("inventory.1", 7, CAMPAIGN), "decode", "wrong_type", "$.inventory[1]"),
        *(
            (changed(f"inventory.2.{name}", ABSENT, CAMPAIGN), "decode", "missing_field", f"$.inventory[2].{name}")
            for name in CASE
        ),
        (changed("inventory.0.taskId", "", CAMPAIGN), "decode", "bad_identifier", "$.inventory[0].taskId"),
        (changed("inventory.0.repeat", 0, CAMPAIGN), "decode", "out_of_range", "$.inventory[0].repeat"),
        (changed("inventory.0.repeat", 2**53 + 1, CAMPAIGN), "decode", "out_of_range", "$.inventory[0].repeat"),
        (changed("inventory.0.repeat", 1.0, CAMPAIGN), "decode", "wrong_type", "$.inventory[0].repeat"),
        (changed("inventory.0.repeat", True, CAMPAIGN), "decode", "wrong_type", "$.inventory[0].repeat"),
        # The metric.
        *(
            (CAMPAIGN | {"metric": bad}, "decode", "unknown_value", "$.metric")
            for bad in ("", "Reward", "reward:x", "closing", "closing:", "closing:net_assets_cents", "score", "sc:q")
        ),
        *(
            (CAMPAIGN | {"metric": f"score:{bad}"}, "decode", "bad_identifier", "$.metric")
            for bad in ("", "q" * 201, "a\tb", "\udfff")
        ),
        # What contradicts itself.
        (CAMPAIGN | {"inventory": []}, "contract", "empty_inventory", "$.inventory"),
        (CAMPAIGN | {"treatmentArm": "baseline"}, "contract", "same_arm", "$.treatmentArm"),
        (CAMPAIGN | {"inventory": [CASE, CASE | {"repeat": 2}, CASE]}, "contract", "duplicate_case", "$.inventory[2]"),
        (CAMPAIGN | {"expectation": "equivalence", "tolerance": 0}, "contract", "zero_tolerance", "$.tolerance"),
        (CAMPAIGN | {"expectation": "equivalence", "tolerance": -0.0}, "contract", "zero_tolerance", "$.tolerance"),
        # Of members that are named twice each is checked, and the last one counts.
        (RAW.replace(b'"metric":', b'"metric":7,"metric":'), "decode", "wrong_type", "$.metric"),
        (RAW[:-1] + b',"metric":"x"}', "decode", "unknown_value", "$.metric"),
    ],
)
def test_what_is_refused_and_where(content: Any, stage: str, reason: str, path: str) -> None:
    decoded = decode(named("before"), content, named("after"))
    assert decoded.frames[REGISTRATIONS]["campaign_id"].to_list() == ["before", "after"]
    check(decoded)
    row = only(decoded.quarantine)
    assert (row["stage"], row["reason"], row["path"]) == (stage, reason, path)
    assert (row["uri"], row["source"], row["landed_on"]) == ("memory://store/campaigns/1.json", "campaigns", DAY)
    assert (row["sha256"], row["attempt_id"]) == (hashlib.sha256(as_bytes(content)).hexdigest(), None)
    assert row["detail"]


@pytest.mark.parametrize(
    "content",
    [
        changed("title", ABSENT, CAMPAIGN),
        CAMPAIGN | {"title": None},
        CAMPAIGN | {"title": "<script>\n" * 1_000},
        CAMPAIGN | {"note": [1, None, {"x": "\x00"}]},
        RAW[:-1] + b',"more":1e999}',
        b"\xef\xbb\xbf" + RAW,
        RAW.replace(b'"metric":', b'"metric":"x","metric":'),
        CAMPAIGN | {"tolerance": 0},
        CAMPAIGN | {"tolerance": 10**15},
        CAMPAIGN | {"expectation": "equivalence", "tolerance": 5e-324},
        CAMPAIGN | {"baselineArm": "a", "treatmentArm": "A"},
        changed("inventory.0.repeat", 2**53, CAMPAIGN),
        changed("inventory.0.extra", {"x": []}, CAMPAIGN),
        *(CAMPAIGN | {"metric": metric} for metric in ("objectiveSuccess", "primaryValue", "reward")),
        *(CAMPAIGN | {"metric": f"closing:{metric}"} for metric in DAY_METRICS),
        *(CAMPAIGN | {"metric": f"score:{question}"} for question in ("q", "a:b", "q" * 200, "'|/…\u202e")),
    ],
)
def test_what_is_taken(content: Any) -> None:
    decoded = decode(content)
    assert decoded.quarantine.is_empty()
    check(decoded)


def test_a_tolerance_has_no_negative_zero() -> None:
    assert str(decode(CAMPAIGN | {"tolerance": -0.0}).frames[REGISTRATIONS]["tolerance"].item()) == "0.0"


def test_the_depth_limit_is_that_of_the_settings() -> None:
    assert campaigns.decode([document(CAMPAIGN)], Limits(max_depth=2)).quarantine["reason"].to_list() == ["too_deep"]


SPOILED = st.sampled_from(places(CAMPAIGN)).flatmap(
    lambda path: st.sampled_from(TOKENS).map(lambda token: with_token(CAMPAIGN, path, token))
)


@given(st.lists(SPOILED | st.binary(max_size=30), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_whatever_the_bytes_every_document_ends_somewhere(contents: list[bytes]) -> None:
    decoded = decode(CAMPAIGN, *contents)
    check(decoded)
    assert decoded.candidates.height + decoded.quarantine.height == len(contents) + 1


HOSTILE_IDS = [
    "cmp-pricing",
    "CMP-Pricing",
    "cmp_pricing",
    "quote\"'`",
    "a/b/../c",
    "a|b",
    "a...b",
    "..",
    "🎯",
    "🎯🎯",
    "é",
    "e\u0301",
    "\u212a",
    " ",
    "-",
    "=cmd()",
    "<script>",
    "%2e%2e",
    "x" * 200,
    "x" * 199,
    "ж" * 200,
    "__HIVE_DEFAULT_PARTITION__",
    "NULL",
    "null",
]


def test_keys_are_short_safe_and_distinct() -> None:
    keys = [campaign_key(one) for one in HOSTILE_IDS]
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,59}", key)


@given(st.text(min_size=1, max_size=200))
def test_any_key_is_safe(campaign_id: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,59}", campaign_key(campaign_id))


def test_a_key_shows_what_it_is() -> None:
    """Keys are paths and partitions of what was published: they never change."""
    assert campaign_key("cmp-pricing") == "cmp-pricing-e7ead6f570887ec846cf"
    assert campaign_key("🎯").startswith("campaign-")


LATER = MODIFIED + dt.timedelta(days=1)
NEXT_DAY = DAY + dt.timedelta(days=1)


def superseded(run: Sequence[Document], elsewhere: Sequence[Document] = ()) -> list[str]:
    """Names of what `assemble` puts into quarantine, of the run's documents among all current ones."""
    own = campaigns.decode(run, Limits()).frames[VERSIONS]
    every = campaigns.decode([*elsewhere, *run], Limits(), 1_000).frames[VERSIONS]
    found = campaigns.assemble({VERSIONS: pl.concat([own, every])}, 1_000)
    assert (found.frames, found.candidates.height, found.next_document) == ({}, 0, 1_000)
    conform(Quarantine, found.quarantine)
    return [uri.rpartition("/")[2] for uri in found.quarantine["uri"]]


OLD = document(CAMPAIGN | {"tolerance": 0.1}, "z.json")
NEW = document(CAMPAIGN, "b.json", LATER, NEXT_DAY)


def test_the_newest_registration_supersedes_the_others() -> None:
    assert superseded([OLD, NEW]) == ["z.json"]
    assert superseded([OLD], [NEW]) == ["z.json"]
    assert superseded([NEW], [OLD]) == []
    assert superseded([NEW, OLD, document(CAMPAIGN | {"tolerance": 1}, "y.json")]) == ["y.json", "z.json"]


def test_what_a_superseded_registration_is_told() -> None:
    found = campaigns.assemble(campaigns.decode([OLD, NEW], Limits()).frames, 7).quarantine
    row = only(found)
    assert row.pop("detail").endswith(NEW.sha256)
    assert row == {
        "uri": OLD.uri,
        "source": "campaigns",
        "landed_on": DAY,
        "stage": "duplicate",
        "reason": "superseded",
        "path": None,
        "sha256": OLD.sha256,
        "attempt_id": None,
    }


def test_of_one_moment_the_greatest_uri_counts() -> None:
    one, other = document(CAMPAIGN, "a.json"), document(CAMPAIGN | {"tolerance": 0.1}, "b.json")
    assert superseded([other, one]) == ["a.json"]


def test_the_same_content_supersedes_nothing() -> None:
    pretty = document(json.dumps(CAMPAIGN, indent=1).encode(), "pretty.json", LATER, NEXT_DAY)
    assert superseded([document(CAMPAIGN), document(CAMPAIGN, "copy.json"), pretty]) == []


def test_of_identical_copies_one_is_superseded() -> None:
    copy = document(CAMPAIGN | {"tolerance": 0.1}, "copy.json", OLD.last_modified - dt.timedelta(hours=1))
    assert superseded([copy, OLD, NEW]) == ["z.json"]


def test_what_is_malformed_supersedes_nothing() -> None:
    assert superseded([OLD, document(CAMPAIGN | {"inventory": []}, "c.json", LATER, NEXT_DAY)]) == []


def test_other_campaigns_are_left_alone() -> None:
    assert superseded([OLD, document(named("other"), "c.json", LATER)]) == []


def test_nothing_comes_to_nothing() -> None:
    found = campaigns.assemble({VERSIONS: pl.DataFrame(schema=campaigns.PARTS[VERSIONS])}, 3).quarantine
    assert found.equals(empty(Quarantine))
