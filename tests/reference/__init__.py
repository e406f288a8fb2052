"""A second, plain-Python reading of the worldseq rules, and a generator of attempts to try both readings on."""
