"""Jobs: landing (day), results (day by rule set) and campaigns (campaign by rule set), one run for many partitions.

Assets with different partitions cannot share a job; what follows what is in `automation` and, on the command line, in
`run`.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence

import dagster as dg

from pipelines.partitions import campaign_and_rules, day_and_rules

PARTITION = "dagster/partition"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
BRIDGE = dt.timedelta(days=7)

LANDING_GROUPS = ("landing", "attempts")
CAMPAIGN_GROUPS = ("campaigns",)
RESULTS_GROUPS = ("verification", "assessments", "rewards", "benchmarks", "reconciliation")

FRESH = "fresh"
ASKED_AT_AN_HOUR = dg.AssetSelection.checks(
    *(dg.AssetCheckKey(dg.AssetKey(asset), FRESH) for asset in ("raw_artifacts", "verifications"))
)
"""Checks that no run of partitions evaluates: they are about the newest day, not about those of the run."""

landing = dg.define_asset_job(
    "landing",
    selection=dg.AssetSelection.groups(*LANDING_GROUPS) - ASKED_AT_AN_HOUR,
    description="Land the artifacts of some days and decode them into the attempts layer.",
)
results = dg.define_asset_job(
    "results",
    selection=dg.AssetSelection.groups(*RESULTS_GROUPS) - ASKED_AT_AN_HOUR,
    description="Score the attempts of some days under some rule sets.",
)


campaigns = dg.define_asset_job(
    "campaigns",
    selection=dg.AssetSelection.groups(*CAMPAIGN_GROUPS),
    description="Compare the arms of some campaigns under some rule sets, and write their reports.",
)


def day_range(first: dt.date, last: dt.date) -> dict[str, str]:
    """Run tags that make one run take every day from `first` to `last`.

    Raises:
        ValueError: the range is reversed; Dagster would succeed without doing anything.
    """
    if last < first:
        raise ValueError(f"the range of days is reversed: {first} is after {last}")
    return {RANGE_START: first.isoformat(), RANGE_END: last.isoformat()}


def day_range_of_rules(first: dt.date, last: dt.date, rules: str) -> dict[str, str]:
    """Run tags that make one run take every day from `first` to `last` under one rule set.

    Raises:
        ValueError: the range is reversed.
    """
    days = day_range(first, last)
    return {name: str(day_and_rules(day, rules)) for name, day in days.items()}


def campaign_range(first: str, last: str, rules: str) -> dict[str, str]:
    """Run tags that make one run take every campaign key from `first` to `last`, as they were added."""
    return {
        RANGE_START: str(campaign_and_rules(first, rules)),
        RANGE_END: str(campaign_and_rules(last, rules)),
    }


def partitions_of(tags: Mapping[str, str]) -> str | None:
    """The partitions of a run as text, by its tags: one key, or the first and the last of a range."""
    first, last = tags.get(RANGE_START), tags.get(RANGE_END)
    return tags.get(PARTITION) or (first if first == last else f"{first}...{last}")


def runs_of(wanted: Sequence[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """The wanted keys as ranges of `known`, which is in the order of partitions: none beside them is taken."""
    found: list[tuple[str, str]] = []
    for key, following in zip(known, [None, *known], strict=False):
        if key not in wanted:
            continue
        if found and found[-1][1] == following:
            found[-1] = (found[-1][0], key)
        else:
            found.append((key, key))
    return found


def spans(days: Sequence[dt.date], bridge: dt.timedelta = BRIDGE) -> list[tuple[dt.date, dt.date]]:
    """Days joined into ranges, gaps of up to `bridge` included: an empty day costs less than another run."""
    found: list[tuple[dt.date, dt.date]] = []
    for day in sorted(set(days)):
        if found and day - found[-1][1] <= bridge:
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found


def within(first: dt.date | None, last: dt.date | None) -> Callable[[Iterable[dt.date]], list[dt.date]]:
    """What keeps of some days those from `first` to `last`, in order.

    Raises:
        ValueError: the range is reversed.
    """
    if first and last:
        day_range(first, last)
    return lambda days: sorted(d for d in days if (first is None or d >= first) and (last is None or d <= last))


def chunks(days: Iterable[dt.date], sizes: Mapping[dt.date, int], most: int) -> list[list[dt.date]]:
    """Days in groups, newest first, each of at most `most` in size, or of one day that is larger."""
    found: list[list[dt.date]] = []
    room = 0
    for day in sorted(set(days), reverse=True):
        size = sizes.get(day, 0)
        if not found or size > room:
            found.append([])
            room = most
        found[-1].append(day)
        room -= size
    return found
