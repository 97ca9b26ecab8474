"""Conversations in the table."""
