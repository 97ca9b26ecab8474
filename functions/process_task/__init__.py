"""Answers the doorbell."""
