"""Benchmarks: ratios against a peer or a physical limit measured in the same run. Run by `make bench`, never by tests."""
