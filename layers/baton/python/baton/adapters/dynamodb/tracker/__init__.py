"""Page synchronisation in the table."""
