"""The MCP server: what `ctxf read`, `grep` and `list` do, as tools that an agent calls by itself."""
