"""The workspace's shared memory: what its agents and people know, decide and ask."""
