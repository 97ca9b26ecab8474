"""Use cases of escalations: the marker, manual reviews."""
