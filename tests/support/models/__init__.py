"""What must come of things: models of the protocol, of rights, of an adversary."""
