"""Every route of the API in one function."""
