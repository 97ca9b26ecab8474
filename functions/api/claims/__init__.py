"""Claims over HTTP."""
