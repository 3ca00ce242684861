"""What `ctxf hook` does: guidance when a session starts, originals in what an agent writes to files."""
