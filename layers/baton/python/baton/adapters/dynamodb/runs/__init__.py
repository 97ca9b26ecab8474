"""Runs in the table."""
