"""Workspaces to act in: in process, over HTTP, on the deployed stack."""
