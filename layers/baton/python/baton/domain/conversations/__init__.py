"""Conversations: who holds one, and how far it was read."""
