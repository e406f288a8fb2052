"""Sensors: `rules_bumped` registers the active rule sets as partitions, so that they can be scored and backfilled."""

from collections.abc import Mapping

import dagster as dg

from assets.rulesets.loader import RuleSet, active
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
