"""Use cases of handoffs: create, find, retry, split, show the chain."""
