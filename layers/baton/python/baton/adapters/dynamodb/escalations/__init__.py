"""Directions and reviews in the table."""
