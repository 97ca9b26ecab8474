"""Use cases: asking people in the middle of the work, and their answers."""
