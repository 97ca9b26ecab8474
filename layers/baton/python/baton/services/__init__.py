"""One use case per file: load, refuse, one domain call, commit."""
