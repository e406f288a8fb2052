"""Run every benchmark and print the ratios as one table."""

from tests.benchmarks import campaigns, harbor, landing, metrics, rescoring, results
from tests.benchmarks.ratios import show

if __name__ == "__main__":
    show([*landing.main(), *results.main(), *harbor.main(), *metrics.main(), *campaigns.main(), *rescoring.main()])
