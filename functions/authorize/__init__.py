"""Tells the gateway who is calling."""
