"""Assessments: grouped Brier and squared-error scores of answers."""
