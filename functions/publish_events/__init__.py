"""Tells the outside."""
