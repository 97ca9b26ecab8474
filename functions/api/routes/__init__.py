"""The routes, one file per thing."""
