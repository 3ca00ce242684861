"""The command line: an edge. It reads, calls the library, writes, and translates errors.

stdout carries the payload only, as bytes; everything else goes to stderr.
"""
