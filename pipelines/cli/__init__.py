"""The command line `scorehouse`: one module per verb, and what they share."""
