"""Agents: what they accept and produce, their tools, and the routes to them."""
