"""Publishes events to the bus."""
