"""Fakes of the outside: DynamoDB, models, the tracker, queues."""
