"""Claims as JSON, for every function."""
