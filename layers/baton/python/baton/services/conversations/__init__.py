"""Use cases of conversations: say, read, see."""
