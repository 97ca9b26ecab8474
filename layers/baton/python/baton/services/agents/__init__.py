"""Use cases of agents: register, find, import, their tools and routes."""
