"""Partitions of the assets: days, and days by rule sets.

Here: the definitions that assets share, and the step between Dagster's keys and the tables' partition columns. Not
here: which rule sets exist (they are registered when the workspace loads) and which keys a run takes.

It imports neither `assets` nor the rest of `pipelines`, so that asset modules may import it.
"""

import datetime as dt
import warnings
from collections.abc import Mapping

import dagster as dg

# Backfill policies and partitions of several dimensions are beta in Dagster; its minor version is pinned for that.
warnings.filterwarnings("ignore", category=dg.BetaWarning)

FIRST_DAY = dt.date(2020, 1, 1)
"""The earliest landing day; an artifact dated before it has no partition and is quarantined."""

DAY = "day"
CAMPAIGN = "campaign"
RULES = "rules"


class ByRules(dg.MultiPartitionsDefinition):
    """Something by rule set, of which a run of one key bears the key as a tag, and not its dimensions too.

    A backfill that is launched at a job becomes one run over a range, and Dagster gives it the tags of its first key;
    it takes those of the dimensions for the whole of the run, which then computes that key alone.
    https://github.com/dagster-io/dagster/issues/28861
    """

    def get_tags_for_partition_key(self, partition_key: str) -> Mapping[str, str]:
        """The key."""
        return dg.PartitionsDefinition.get_tags_for_partition_key(self, partition_key)


# end_offset: today is a partition while it lasts, so that what lands now can be scored now.
days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), timezone="UTC", end_offset=1)
# Rule sets are files, also of a team's own directory: dynamic, registered from the files by name.
rule_sets = dg.DynamicPartitionsDefinition(name="rules")
days_by_rules = ByRules({DAY: days, RULES: rule_sets})
# Campaigns are registered in the store: dynamic, by a key that any partition of any store can bear.
campaigns = dg.DynamicPartitionsDefinition(name="campaigns")
campaigns_by_rules = ByRules({CAMPAIGN: campaigns, RULES: rule_sets})


def day_of(key: str) -> dt.date:
    """The day of a daily partition key."""
    return dt.date.fromisoformat(key)


def day_and_rules(day: str, rules: str) -> dg.MultiPartitionKey:
    """The key of one day under one rule set."""
    return dg.MultiPartitionKey({DAY: day, RULES: rules})


def campaign_and_rules(campaign_key: str, rules: str) -> dg.MultiPartitionKey:
    """The key of one campaign under one rule set."""
    return dg.MultiPartitionKey({CAMPAIGN: campaign_key, RULES: rules})
