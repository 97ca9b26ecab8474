"""Use cases of access: tokens, settings, rate limits."""
