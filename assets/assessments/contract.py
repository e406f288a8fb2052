"""Table of the assessments: what each answer is worth. Scores are never summed across questions."""

import datetime as dt

from assets.contract import Contract, column
from assets.vocabulary import ANSWER_STATUSES, ERROR_KINDS, QUESTION_KINDS


class AssessmentScores(Contract):
    """One row per rule set and question of a completed attempt. Key: (attempt_id, rules, question_id, landed_on).

    Only `graded` has numbers in `score` and `error`; whatever is not graded is null, never zero.
    """

    attempt_id: str = column("Attempt")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    question_id: str = column("Question")
    kind: str = column("Kind of question", isin=list(QUESTION_KINDS))
    answer_status: str = column("The first that applies of the answer statuses", isin=list(ANSWER_STATUSES))
    prediction: float = column("Numeric prediction of the graded answer, in the metric's unit", nullable=True)
    actual: float = column("Actual value, in the metric's unit", nullable=True)
    scale: float = column(
        "One unit of error, in the metric's unit; null where it is not finite or absent", nullable=True
    )
    score: float = column("Higher is better: 1 is perfect for categorical, 0 for numeric questions", nullable=True)
    error: float = column("Lower is better, 0 is perfect", nullable=True)
    error_kind: str = column("groupBrier or normalizedSquaredError", isin=list(ERROR_KINDS))
    required: bool = column("A supported conclusion is required")

    class Config(Contract.Config):
        name = "assessment_scores"
        unique = ["attempt_id", "rules", "question_id", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules")}
