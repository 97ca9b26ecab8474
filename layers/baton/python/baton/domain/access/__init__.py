"""Callers: who they are, what they may read, and how much they may ask for."""
