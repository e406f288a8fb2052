"""What each table is: its contract, its pure computation and its thin asset, one folder a domain."""
