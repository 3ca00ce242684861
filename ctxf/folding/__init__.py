"""Where the protocol and the archive meet: bodies are stored first, then references are written, and back."""
