"""Use cases of alerts: raise, list, handle."""
