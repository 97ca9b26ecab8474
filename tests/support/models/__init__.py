"""Models of what must happen: of the protocol, of rights, of an adversary."""
