"""A second, plain-Python reading of the rules, and generators of what to try both readings on."""
