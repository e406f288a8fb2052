"""How, when and where it runs: settings, storage, partitions, schedules, checks, definitions and the command line."""
