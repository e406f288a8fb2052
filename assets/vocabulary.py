"""The closed vocabularies that tables, decoders and kernels share.

They are plain strings in tables (a Delta table has no enumeration); contracts enforce them.
"""

OUTCOMES = ("completed", "agent_failure", "infrastructure_failure")
PRIMARY_METRICS = (
    "net_cash",
    "net_assets",
    "operating_margin",
    "active_paying_accounts",
    "retained_accounts",
    "recovery",
)
# In order of precedence: evidence before any record of it.
SHAPES = ("full", "finalizer", "harbor", "summary", "trial", "run", "task")
FINALIZATION_STATUSES = ("completed", "inconclusive", "failed")
QUESTION_KINDS = ("categorical", "forecast", "counterfactual")
BRANCHES = ("baseline", "intervention")

SOURCES = ("worldseq", "harbor", "agentforge", "agentcompass")
FOLDERS = (*SOURCES, "agentforge-packs", "campaigns")

# A trial of a job, the trials of a run's one file, staged trials, and the two generations of task results.
BENCHMARK_FORMATS = ("harbor", "terminal-bench", "agentforge", "agentcompass-1", "agentcompass-0")
STRATEGIES = ("avg", "pass")
AGGREGATIONS = ("micro", "category_mean", "category_hierarchy")
REDUCERS = ("mean", "native", "avg", "pass", "pass_unbiased")
POLICIES = ("strict", "scored_only", "harbor_0_26", "harbor_0_25")
SCOPES = ("overall", "category", "hierarchy")

CLASSES = ("missing", "infrastructure_failure", "agent_failure", "inconclusive", "ineligible", "eligible")
PREDICATE_OUTCOMES = ("pass", "fail", "inconclusive")
ANSWER_STATUSES = ("invalid_contract", "missing", "pending", "invalid", "outcome_unavailable", "graded")
BASES = ("recomputed", "recorded")
ERROR_KINDS = ("groupBrier", "normalizedSquaredError")

QUARANTINE_STAGES = ("fetch", "decode", "contract", "duplicate")
