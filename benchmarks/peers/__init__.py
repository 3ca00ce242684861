"""The same texts through ctxf and through other tools: `python -m benchmarks --peers`."""
