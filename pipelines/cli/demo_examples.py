"""What `scorehouse demo` shows of its results: one query each, with the title that it is shown under.

Here: the queries, and what to try next. Not here: asking and printing (`demo`). Every answer fits into 100 columns.
"""

from typing import NamedTuple


class Example(NamedTuple):
    """A question about the results, and what its answer shows."""

    title: str
    query: str


CLASSES = """
SELECT class, count(*) FILTER (source = 'worldseq') AS worldseq, count(*) FILTER (source = 'harbor') AS harbor,
       count(*) FILTER (source = 'agentforge') AS agentforge, count(*) FILTER (source = 'agentcompass') AS agentcompass
FROM verifications_current JOIN attempts_current USING (attempt_id, landed_on) GROUP BY class ORDER BY class
"""
WHY_INELIGIBLE = """
SELECT attempt_id, kind AS "failed predicate", reason, observed, "limit", coalesce(first_breach_day, worst_day) AS day
FROM predicate_results_current WHERE outcome = 'fail'
QUALIFY row_number() OVER (PARTITION BY kind ORDER BY attempt_id, predicate_id) = 1
ORDER BY kind
"""
HEADLINES = """
SELECT run, benchmark, measured AS metric,
       max(figure) FILTER (policy = 'strict') AS strict, max(figure) FILTER (policy = 'scored_only') AS scored_only,
       evaluated || '/' || total AS scored, error, unavailable
FROM (
    SELECT *, run_id AS run, metric || if(k > 1, ' ' || reducer || '@' || k, '') AS measured,
           coalesce(printf('%.3f', value), '(' || printf('%.3f', reference_value) || ')', '-')
           || if(headline, ' *', '') AS figure
    FROM benchmark_metrics_current WHERE scope = 'overall'
)
GROUP BY source, landed_on, run, benchmark, agent_name, model_name, measured, reducer, evaluated, total, error,
         unavailable
HAVING bool_or(headline)
ORDER BY source DESC, run, benchmark, metric
"""
LOSSES = """
SELECT run_id AS run, benchmark, registered, present, valid, errors, missing
FROM run_totals_current ORDER BY registered - valid DESC, run, benchmark LIMIT 5
"""
STAGES = """
SELECT stage_id AS stage, weight, value, contribution, NULL AS recorded
FROM (FROM stage_scores_current WHERE attempt_id = 'agentforge:eu-large-3' ORDER BY position)
UNION ALL
SELECT 'reward', NULL, NULL, reward, recorded_reward FROM rewards_current WHERE attempt_id = 'agentforge:eu-large-3'
"""
DISAGREEMENTS = """
SELECT coalesce(attempt_id, run_id) AS "attempt or run", field, recorded, recomputed
FROM reconciliation_current WHERE NOT agrees
QUALIFY row_number() OVER (
    PARTITION BY split_part(attempt_id, ':', 1), split_part(field, ':', 1) ORDER BY attempt_id, run_id, field
) = 1
ORDER BY ALL
"""
EXAMPLES = (
    Example("Classes by source", CLASSES),
    Example("One attempt for each kind of predicate that failed", WHY_INELIGIBLE),
    Example("Benchmark figures under both policies (*: the one to quote; in parentheses: withheld)", HEADLINES),
    Example("The runs that lost most: a registered attempt without a valid score is not forgotten", LOSSES),
    Example("One staged reward (agentforge:eu-large-3), stage by stage", STAGES),
    Example("Recorded by upstream, but not what the evidence gives", DISAGREEMENTS),
)

ARMS = """
SELECT campaign_id, arm_id, count(*) AS attempts, avg(eligible::INT) AS share_eligible
FROM verifications_current JOIN attempts_current USING (attempt_id) WHERE campaign_id IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""
UNBIASED = """
SELECT run_id, metric, policy, value, evaluated, total FROM benchmark_metrics_current
WHERE reducer = 'pass_unbiased' AND k = 2 AND scope = 'overall' ORDER BY ALL
"""
NEXT = (
    f'scorehouse sql "{" ".join(ARMS.split())}"',
    f'scorehouse sql "{" ".join(UNBIASED.split())}"',
    "scorehouse sql \"SELECT * FROM predicate_results_current WHERE attempt_id = 'worldseq:att-optimist'\"",
    "scorehouse tables benchmark_metrics",
    "scorehouse quarantine show broken/truncated.json",
    "scorehouse ui",
)
