"""The bell's routes."""
