"""What follows by itself: results after the attempts that they are computed from."""

import dagster as dg

from pipelines.jobs import RESULTS_GROUPS

# Not `eager()`: it looks at the latest day only, so late days would wait for ever, and it fills in what is missing, so
# registering a rule set would rescore every day unasked.
AFTER_INPUTS = (
    dg.AutomationCondition.any_deps_updated().since(
        # Not `since_last_handled()`, which a materialization ends too: a day landed again while its results are being
        # written would stay stale. The price is one run too many after a `scorehouse run` beside a daemon.
        dg.AutomationCondition.newly_requested() | dg.AutomationCondition.initial_evaluation()
    )
    & ~dg.AutomationCondition.any_deps_missing()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.in_progress()
).with_label("after its inputs")

results_follow = dg.AutomationConditionSensorDefinition(
    "results_follow",
    target=dg.AssetSelection.groups(*RESULTS_GROUPS),
    description="Scores a day once its attempts were landed, under every registered rule set.",
    default_status=dg.DefaultSensorStatus.RUNNING,
)
