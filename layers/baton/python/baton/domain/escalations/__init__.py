"""Escalations: the marker, a direction's circuit breaker and cap, manual reviews."""
