"""Rings the bell."""
