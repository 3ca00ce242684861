"""The part of `ctxf setup` and `ctxf doctor CLIENT` that touches files and starts processes."""
