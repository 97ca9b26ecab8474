"""Use cases of tasks: approve, end, put off, list, read, sweep."""
