"""Sensors: what makes partitions, and what is landed, scored and compared again.

`rules_bumped` registers the active rule sets as partitions, so that they can be scored and backfilled, and says what is
to be backfilled; `late_artifacts` asks the store which days are not as they were landed; `results_behind` and
`campaigns_touched` ask what is stored which results and comparisons are no longer of it. Each is a thin wrapper: what
is out of date, and what has been asked for already, is decided elsewhere.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence

import dagster as dg

from assets.campaigns.current import stale
from assets.landing.land import Intake, Store, TableStore
from assets.rulesets.loader import RuleSet, active
from assets.verification.contract import Verifications
from pipelines import jobs, staleness
from pipelines.behind import behind
from pipelines.behind import decide as decide_behind
from pipelines.late import decide as decide_late
from pipelines.late import look
from pipelines.partitions import campaign_and_rules, day_and_rules
from pipelines.partitions import campaigns as campaign_partitions
from pipelines.partitions import rule_sets as partitions
from pipelines.requests import STATE, decide, runs_before, told, under_way
from pipelines.schedules import window
from pipelines.storage.tables import Tables

SCORED_AT_ONCE = 16
"""Runs that one look asks for; the next ones ask for the rest."""


def rules_bumped(rule_sets: Mapping[str, RuleSet], specs: Sequence[dg.AssetSpec]) -> dg.SensorDefinition:
    """A sensor that makes every active rule set a partition, and no retired one; it offers backfills, starts none."""

    @dg.sensor(
        name="rules_bumped",
        minimum_interval_seconds=300,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Registers active rule sets as partitions, and says which days a backfill would score under them.",
    )
    def sensor(context: dg.SensorEvaluationContext, tables: dg.ResourceParam[Tables]) -> dg.SensorResult:
        known = context.instance.get_dynamic_partitions(str(partitions.name))
        wanted = active(rule_sets)
        new = [id_ for id_ in wanted if id_ not in known]
        # What has ended, or has no file, would be scored with every day that lands, or fail it.
        ended = [id_ for id_ in known if id_ not in rule_sets or rule_sets[id_].status == "retired"]
        plan = staleness.stale(
            tables,
            staleness.recipes(specs),
            [rule_sets[id_] for id_ in wanted],
            staleness.decoded_days(tables),
            every=False,
        )
        return dg.SensorResult(
            skip_reason=offered(wanted, plan),
            dynamic_partitions_requests=[
                *([partitions.build_add_request(new)] if new else []),
                *([partitions.build_delete_request(ended)] if ended else []),
            ],
        )

    return sensor


def offered(rules: Sequence[str], plan: staleness.Plan) -> str:
    """What a backfill would compute under each of these rule sets, in one line."""
    told = []
    for id_ in rules:
        if why := Counter(one.reason for one in plan.stale if one.rules == id_):
            reasons = ", ".join(f"{days} x {reason}" for reason, days in why.most_common())
            told.append(f"{id_} is not up to date ({reasons}): scorehouse backfill --rules {id_}")
        else:
            told.append(f"{id_} is up to date")
    return "; ".join(told)


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
        states = {str(campaign_and_rules(one.campaign_key, one.rules)): one for one in found}
        decision = decide(
            {key: one.digest for key, one in states.items()},
            runs_before(context.instance, jobs.campaigns.name, list(states)),
        )
        context.log.info(told(decision))
        known = context.instance.get_dynamic_partitions(str(campaign_partitions.name))
        new = sorted({one.campaign_key for one in found} - set(known))
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(
                    partition_key=campaign_and_rules(states[key].campaign_key, states[key].rules),
                    tags={STATE: states[key].digest},
                )
                for key in decision.ask
            ],
            dynamic_partitions_requests=[campaign_partitions.build_add_request(new)] if new else [],
        )

    return sensor


def results_behind(
    rule_sets: Mapping[str, RuleSet], specs: Sequence[dg.AssetSpec], look_back_days: int
) -> dg.SensorDefinition:
    """A sensor that scores again what two looks found just as far behind, while nothing was under way.

    The automation condition follows events: of a run that failed, or that came before the predecessor's, it asks for
    no other.
    """

    @dg.sensor(
        name="results_behind",
        job=jobs.results,
        minimum_interval_seconds=600,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Scores again what stayed behind the attempts, or the rule set's predecessor; newest day first.",
    )
    def sensor(
        context: dg.SensorEvaluationContext, tables: dg.ResourceParam[Tables], intake: dg.ResourceParam[Intake]
    ) -> dg.SensorResult | dg.SkipReason:
        if under_way(context.instance):
            return dg.SkipReason("runs are under way")
        wanted = [rule_sets[id_] for id_ in active(rule_sets)]
        plan = staleness.stale(tables, staleness.recipes(specs), wanted, staleness.decoded_days(tables), every=False)
        since, _ = window(intake.clock(), look_back_days)
        found = decide_behind(behind(plan.stale, tables.provenance(Verifications), since), context.cursor or "")
        context.update_cursor(found.cursor)
        states = {day_and_rules(one.day.isoformat(), one.rules): one.inputs for one in found.score[:SCORED_AT_ONCE]}
        if not states:
            return dg.SkipReason("nothing stayed behind since the last look")
        keys = {str(key): key for key in states}
        decision = decide(
            {str(key): inputs for key, inputs in states.items()},
            runs_before(context.instance, jobs.results.name, list(keys)),
        )
        context.log.info(told(decision))
        return dg.SensorResult(
            run_requests=[
                dg.RunRequest(partition_key=keys[key], tags={STATE: states[keys[key]]}) for key in decision.ask
            ]
        )

    return sensor


def late_artifacts(look_back_days: int, specs: Sequence[dg.AssetSpec]) -> dg.SensorDefinition:
    """A sensor that lands again each day whose listing changed, of today and the days that a night looks back on."""

    @dg.sensor(
        name="late_artifacts",
        job=jobs.landing,
        minimum_interval_seconds=300,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Lands the days whose artifacts arrived late, were corrected or vanished; results follow.",
    )
    def sensor(
        context: dg.SensorEvaluationContext,
        artifact_store: dg.ResourceParam[Store],
        tables: dg.ResourceParam[Tables],
        intake: dg.ResourceParam[Intake],
    ) -> dg.SensorResult | dg.SkipReason:
        now = intake.clock()
        first, _ = window(now, look_back_days)
        days = [first + dt.timedelta(number) for number in range((now.date() - first).days + 1)]
        # A listing that fails raises here: the cursor stays, and the tick is a failed one.
        late = decide_late(look(artifact_store, tables, intake, specs, days, context.cursor or ""))
        context.update_cursor(late.cursor)
        if not late.land:
            return dg.SkipReason(f"{days[0]} to {days[-1]} are stored as they are listed")
        decision = decide(late.land, runs_before(context.instance, jobs.landing.name, list(late.land)))
        context.log.info(told(decision))
        return dg.SensorResult(
            run_requests=[dg.RunRequest(partition_key=day, tags={STATE: late.land[day]}) for day in decision.ask]
        )

    return sensor
