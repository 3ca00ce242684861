"""What `ctxf hook` does for an agent: guidance when a session starts, originals in what it writes to files."""
