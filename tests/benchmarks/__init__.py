"""Benchmarks: ratios against a peer or a physical limit of the same run. `make bench` runs them, the tests never."""
