"""The gateway's authorizer."""
