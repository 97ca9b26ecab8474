"""Baton's tools over stdio, by the official SDK of the Model Context Protocol (docs/guides/mcp.md)."""
