"""Use cases of the tracker: synchronise, import, webhooks, health."""
