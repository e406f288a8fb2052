"""Rewards: what an outcome is worth, per reward kind."""
