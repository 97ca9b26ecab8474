"""Sends the outbox to the tracker."""
