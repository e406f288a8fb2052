"""Benchmark metrics: from attempts at tasks to figures of runs, with every count beside them."""
