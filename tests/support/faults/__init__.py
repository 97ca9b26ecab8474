"""Faults, races and sizes."""
