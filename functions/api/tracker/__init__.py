"""The tracker over HTTP."""
