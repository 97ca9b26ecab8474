"""Alerts in the table."""
