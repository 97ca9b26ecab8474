"""Steps of agents."""
