"""Connections that listen to the bell."""
