"""Steps of escalations."""
