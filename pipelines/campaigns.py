"""What is stored of campaigns: their verdicts, and whether they still are what their inputs give.

Here: reading and recomputing; nothing is written. Not here: running comparisons (`run`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from assets.campaigns.comparison import comparison
from assets.campaigns.contract import COMPARED, CampaignComparisons
from assets.campaigns.current import current, paired
from assets.contract import table_name
from assets.rulesets.loader import active, load_all, select
from pipelines.build import table_store
from pipelines.run import registered
from pipelines.settings import Settings


class Checked(NamedTuple):
    """A stored comparison beside the one made anew: the tables and columns that differ."""

    campaign_id: str
    rules: str
    differing: list[str]


def verdicts(settings: Settings, campaigns: Sequence[str] = (), rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The stored comparisons of the named campaigns, or of all, under the named rule sets or the active ones."""
    tables = table_store(settings)
    rule_sets = load_all(settings.rulesets)
    keys, ids = list(registered(tables, campaigns)), list(rules or active(rule_sets))
    if not tables.exists(CampaignComparisons):
        return []
    rows = tables.scan(CampaignComparisons).filter(pl.col("campaign_key").is_in(keys), pl.col("rules").is_in(ids))
    return rows.sort("campaign_id", "rules").collect().to_dicts()


def check(settings: Settings, campaigns: Sequence[str] = (), rules: Sequence[str] = ()) -> list[Checked]:
    """Make the named comparisons, or all, anew and compare every row with what is stored, bit for bit."""
    tables = table_store(settings)
    rule_sets = load_all(settings.rulesets)
    known = registered(tables, campaigns)
    found = []
    for wanted in select(rule_sets, rules or active(rule_sets)):
        rows = current(tables, [one.campaign_id for one in known.values()], wanted)
        for key, one in known.items():
            made = comparison(one, paired(one, rows, wanted), wanted)
            where = [{"campaign_key": key, "rules": wanted.id}]
            differing = []
            for contract, frame in zip(COMPARED, made, strict=True):
                stored = tables.scan(contract, where).collect()
                differing += _differing(table_name(contract), stored, frame)
            found.append(Checked(one.campaign_id, wanted.id, differing))
    return found


def _differing(name: str, stored: pl.DataFrame, made: pl.DataFrame) -> list[str]:
    """The columns in which the rows differ, in whatever order they are stored."""
    if stored.height != made.height:
        return [f"{name}: {stored.height} rows stored, {made.height} made"]
    keys = [one for one, dtype in made.schema.items() if not dtype.is_nested() and not dtype.is_float()]
    ours, theirs = made.sort(keys, nulls_last=True), stored.select(made.columns).sort(keys, nulls_last=True)
    return [f"{name}.{one}" for one in made.columns if not ours[one].equals(theirs[one], null_equal=True)]
