"""Attempts: the canonical records of every source, one table a part (the silver layer)."""
