"""The normalized squared error of forecasts and counterfactuals."""

import polars as pl


def squared_error() -> pl.Expr:
    """((prediction - actual) / scale)^2, not clipped; infinite where it overflows, null where an input is missing."""
    units = (pl.col("prediction") - pl.col("actual")) / pl.col("scale")
    return units * units
