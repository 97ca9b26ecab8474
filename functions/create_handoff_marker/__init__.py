"""POST /handoff-markers."""
