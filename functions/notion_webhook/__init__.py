"""Receives Notion's webhook."""
