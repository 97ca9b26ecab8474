"""Agents, tools and routes in the table."""
