"""Guardrails: sizes, secrets and forbidden patterns."""
