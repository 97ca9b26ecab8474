"""The shared memory over HTTP."""
