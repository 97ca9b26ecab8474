"""Listeners in the table."""
