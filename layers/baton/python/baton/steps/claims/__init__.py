"""Steps of claims."""
