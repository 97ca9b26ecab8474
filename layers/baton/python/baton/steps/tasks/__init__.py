"""Steps of tasks."""
