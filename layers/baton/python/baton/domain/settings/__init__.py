"""A workspace's settings."""
