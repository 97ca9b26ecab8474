"""Steps that the memory's use cases share."""
