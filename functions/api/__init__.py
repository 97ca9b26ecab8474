"""The REST routes that have no function of their own."""
