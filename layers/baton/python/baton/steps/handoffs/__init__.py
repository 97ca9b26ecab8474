"""Steps of handoffs."""
