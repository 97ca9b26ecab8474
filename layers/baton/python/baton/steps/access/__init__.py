"""Steps of access."""
