"""One small program for each tool, run by the Python of that tool's own environment.

They import the standard library, `benchmarks.peers.drivers` and their tool, nothing else of this project.
"""
