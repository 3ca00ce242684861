"""ctxf inside other tools. Each module needs its tool installed, and nothing else here imports it."""
