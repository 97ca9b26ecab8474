"""The outbox of events in the table."""
