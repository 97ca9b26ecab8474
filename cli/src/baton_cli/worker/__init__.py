"""`baton worker`: any program as the worker of an agent (docs/guides/run-a-worker.md, decision 070)."""
