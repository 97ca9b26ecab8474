"""The public conformance suite of the Model Context Protocol, against the door in this process: `make conformance`."""
