"""Steps of conversations."""
