"""Verification: predicates, and the verdict that they give."""
