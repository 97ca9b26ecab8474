"""Steps of guardrails."""
