"""The protocol of PROTOCOL.md: bytes in, bytes out. Nothing here reads a file, a clock or an archive."""
