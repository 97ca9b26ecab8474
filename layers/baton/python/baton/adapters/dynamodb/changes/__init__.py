"""Changes of a workspace in the table."""
