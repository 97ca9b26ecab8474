"""POST /mcp: the API as tools of the Model Context Protocol (docs/spec/mcp.md)."""
