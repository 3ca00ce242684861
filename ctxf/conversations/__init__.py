"""A conversation with an agent: the scope that is its own, and what its model is told about folding."""
