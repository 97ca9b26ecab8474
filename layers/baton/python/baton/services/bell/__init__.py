"""Listening to the bell, and ringing it."""
