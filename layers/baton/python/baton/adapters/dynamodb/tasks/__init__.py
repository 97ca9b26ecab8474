"""Tasks in the table."""
