"""Claims in the table."""
