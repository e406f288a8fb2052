"""Reconciliation: what upstream recorded against what is recomputed."""
