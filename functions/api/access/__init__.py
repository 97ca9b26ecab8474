"""Settings and tokens over HTTP."""
