"""How fast ctxf is beside the least that the same bytes can cost: `python -m benchmarks`."""
