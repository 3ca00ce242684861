"""Finds the one function of a source that a question names, and what else stays with it.

Pure: bytes and a syntax tree in, a plan out. `ctxf.folding.project` stores what is left out.
"""
