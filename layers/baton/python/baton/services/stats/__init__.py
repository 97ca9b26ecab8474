"""Use cases of the counters and of the record of decisions."""
