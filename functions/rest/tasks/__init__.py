"""Tasks as JSON, for every function."""
