"""Use counts and saved responses in the table."""
