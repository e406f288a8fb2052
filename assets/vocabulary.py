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
SHAPES = ("full", "finalizer", "harbor", "summary")
FINALIZATION_STATUSES = ("completed", "inconclusive", "failed")
QUESTION_KINDS = ("categorical", "forecast", "counterfactual")
BRANCHES = ("baseline", "intervention")

SOURCES = ("worldseq", "harbor", "agentforge", "agentcompass")

CLASSES = ("missing", "infrastructure_failure", "agent_failure", "inconclusive", "ineligible", "eligible")
PREDICATE_OUTCOMES = ("pass", "fail", "inconclusive")
ANSWER_STATUSES = ("invalid_contract", "missing", "pending", "invalid", "outcome_unavailable", "graded")
BASES = ("recomputed", "recorded")
ERROR_KINDS = ("groupBrier", "normalizedSquaredError")

QUARANTINE_STAGES = ("fetch", "decode", "contract", "duplicate")
