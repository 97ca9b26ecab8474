"""Agents, tools and work types over HTTP."""
