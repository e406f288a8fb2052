"""What is stored of campaigns: their verdicts, and whether they still are what their inputs give.

Here: reading and recomputing; nothing is written. Not here: running comparisons (`run`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from assets.campaigns.comparison import comparison
from assets.campaigns.contract import COMPARED, CampaignComparisons
from assets.campaigns.current import current, failed_predicates, paired, primary_unit
from assets.campaigns.report import report
from assets.contract import table_name
from assets.rulesets.loader import active, load_all, select
from pipelines.build import report_store, table_store
from pipelines.run import registered
from pipelines.settings import Settings


class Checked(NamedTuple):
    """A stored comparison beside the one made anew: the tables and columns that differ."""

    campaign_id: str
    rules: str
    differing: list[str]


def verdicts(settings: Settings, campaigns: Sequence[str] = (), rules: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The stored comparisons of the named campaigns, or of all, under the named rule sets or the active ones.

    `withdrawn` says of each whether its registration is no longer in the store.
    """
    tables = table_store(settings)
    rule_sets = load_all(settings.rulesets)
    known, ids = registered(tables, campaigns), list(rules or active(rule_sets))
    if not tables.exists(CampaignComparisons):
        return []
    rows = tables.scan(CampaignComparisons).filter(
        pl.col("campaign_key").is_in(list(known)), pl.col("rules").is_in(ids)
    )
    made = rows.sort("campaign_id", "rules").collect().to_dicts()
    return [{**row, "withdrawn": bool(known[row["campaign_key"]].vanished)} for row in made]


def check(settings: Settings, campaigns: Sequence[str] = (), rules: Sequence[str] = ()) -> list[Checked]:
    """Make the named comparisons, or all, anew and compare every row and report with what is stored, bit for bit.

    Raises:
        StoreError: a table or a report cannot be read, or the report of a comparison that is stored is not there.
        UnknownCampaignError: a campaign is not registered.
    """
    tables, reports = table_store(settings), report_store(settings)
    rule_sets = load_all(settings.rulesets)
    known = registered(tables, campaigns)
    found = []
    for wanted in select(rule_sets, rules or active(rule_sets)):
        rows = current(tables, [one.campaign_id for one in known.values()], wanted)
        for key, one in known.items():
            pair = paired(one, rows, wanted)
            made = comparison(one, pair, wanted)
            where = [{"campaign_key": key, "rules": wanted.id}]
            differing = []
            for contract, frame in zip(COMPARED, made, strict=True):
                stored = tables.scan(contract, where).collect()
                differing += _differing(table_name(contract), stored, frame)
            if not differing:  # else there may be none
                told = failed_predicates(one, pair, rows), pair.unregistered, primary_unit(pair, rows)
                same = reports.read(key, wanted.id) == report(made, one, *told)
                differing += [] if same else ["report"]
            found.append(Checked(one.campaign_id, wanted.id, differing))
    return found


def _differing(name: str, stored: pl.DataFrame, made: pl.DataFrame) -> list[str]:
    """The columns in which the rows differ, in whatever order they are stored."""
    if stored.height != made.height:
        return [f"{name}: {stored.height} rows stored, {made.height} made"]
    keys = [one for one, dtype in made.schema.items() if not dtype.is_nested() and not dtype.is_float()]
    ours, theirs = made.sort(keys, nulls_last=True), stored.select(made.columns).sort(keys, nulls_last=True)
    return [f"{name}.{one}" for one in made.columns if not ours[one].equals(theirs[one], null_equal=True)]
