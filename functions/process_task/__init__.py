"""Handles dispatch notices."""
