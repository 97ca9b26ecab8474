"""Handoffs: the message, the draft, the chain, and the limits of a workflow."""
