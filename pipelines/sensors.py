"""Sensors: what makes partitions, and what is compared again.

`rules_bumped` registers the active rule sets as partitions, so that they can be scored and backfilled;
`campaigns_touched` asks what is stored which comparisons are no longer of it.
"""

from collections.abc import Mapping

import dagster as dg

from assets.campaigns.current import stale
from assets.landing.land import TableStore
from assets.rulesets.loader import RuleSet, active
from pipelines import jobs
from pipelines.partitions import campaign_and_rules
from pipelines.partitions import campaigns as campaign_partitions
from pipelines.partitions import rule_sets as partitions


def rules_bumped(rule_sets: Mapping[str, RuleSet]) -> dg.SensorDefinition:
    """A sensor that makes every active rule set a partition; it offers a backfill and starts none."""

    @dg.sensor(
        name="rules_bumped",
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Registers active rule sets as partitions; backfill the results under a new one when you like.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        known = context.instance.get_dynamic_partitions(str(partitions.name))
        new = [id_ for id_ in active(rule_sets) if id_ not in known]
        if not new:
            return dg.SkipReason(f"every active rule set is a partition: {', '.join(active(rule_sets))}")
        return dg.SensorResult(dynamic_partitions_requests=[partitions.build_add_request(new)])

    return sensor


def campaigns_touched(rule_sets: Mapping[str, RuleSet]) -> dg.SensorDefinition:
    """A sensor that compares again what is stale: registrations and pairs are what tells, not which run has ended.

    An automation condition would follow the days, and a day touches few of the campaigns.
    """

    @dg.sensor(
        name="campaigns_touched",
        job=jobs.campaigns,
        minimum_interval_seconds=300,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Registers campaigns as partitions, and compares those whose pairs or registration changed.",
    )
    def sensor(
        context: dg.SensorEvaluationContext, tables: dg.ResourceParam[TableStore]
    ) -> dg.SensorResult | dg.SkipReason:
        found = list(stale(tables, [rule_sets[id_] for id_ in active(rule_sets)]))
        if not found:
            return dg.SkipReason("every comparison is of what is stored now")
        known = context.instance.get_dynamic_partitions(str(campaign_partitions.name))
        new = sorted({one.campaign_key for one in found} - set(known))
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(
                    run_key=f"{one.campaign_key}|{one.rules}|{one.digest}",
                    partition_key=campaign_and_rules(one.campaign_key, one.rules),
                )
                for one in found
            ],
            dynamic_partitions_requests=[campaign_partitions.build_add_request(new)] if new else [],
        )

    return sensor
