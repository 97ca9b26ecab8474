"""Manual reviews over HTTP."""
