"""Handoffs in the table."""
