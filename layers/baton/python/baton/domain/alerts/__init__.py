"""Alerts for humans."""
