"""The counters and the decisions in the table."""
