"""The sweeper, run every minute."""
