"""The tracker: a task's page, its synchronisation, and what people change on it."""
