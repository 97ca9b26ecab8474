"""Events for the outside."""
