"""Rule sets: one immutable, reviewed TOML file each, and the loader that makes them typed and frozen."""
