"""Where bytes and tables live: one mapping of options, the artifact store (read only) and the Delta tables."""
