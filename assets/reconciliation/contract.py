"""Table of the reconciliation: recorded against recomputed. A disagreement never changes a result."""

import datetime as dt

from assets.contract import Contract, column


class Reconciliation(Contract):
    """One row per recorded figure that the rules also compute, per rule set and document that recorded it."""

    attempt_id: str = column("Attempt", nullable=True)
    run_id: str = column("Run, for figures of a whole run", nullable=True)
    field: str = column("eligible, verified, primary_value, reward, constraint:<id>, score:<question>, …")
    recorded_in: str = column("Document that recorded it")
    recorded: float = column("The recorded number; a boolean is 0 or 1", nullable=True)
    recomputed: float = column("The recomputed number; a boolean is 0 or 1", nullable=True)
    abs_diff: float = column("|recorded - recomputed|; null where either is null or not a number", nullable=True)
    agrees: bool = column("Equal: exact for booleans, within the relative tolerance for numbers, null equals null")
    reason: str = column(
        "differs, not_recomputed, contradicts_status, …; of a run's figure that agrees, the policy it agrees under",
        nullable=True,
    )
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")

    class Config(Contract.Config):
        name = "reconciliation"
        metadata = {"partition_by": ("landed_on", "rules")}
