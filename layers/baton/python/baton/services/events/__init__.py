"""Use cases of events: publish to the bus."""
