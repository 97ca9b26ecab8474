"""Hears what the tracker has to tell."""
