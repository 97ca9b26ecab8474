"""Questions to people, over HTTP."""
