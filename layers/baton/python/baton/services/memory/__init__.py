"""Use cases of the shared memory."""
