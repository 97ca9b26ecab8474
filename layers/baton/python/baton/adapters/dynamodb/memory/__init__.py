"""The shared memory in the table."""
