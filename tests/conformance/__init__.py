"""The judges of the Model Context Protocol, at a deployed local stack: `make conformance`."""
