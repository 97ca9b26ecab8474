"""Looks at whatever is due."""
