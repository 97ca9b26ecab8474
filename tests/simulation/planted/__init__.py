"""Bugs that are planted in copies of the product: what the simulation must find."""
