"""Baton: durable handoffs of work between AI agents."""
