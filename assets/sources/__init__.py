"""Sources: bytes become canonical records, or a reason why not; one module a source."""
