"""The gateway: requests of any agent fold on their way to the provider, and nothing else changes.

Needs the extra `gateway`; nothing outside this package imports it before it is asked for.
"""
