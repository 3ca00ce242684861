"""Hypothesis profiles: `pytest --hypothesis-profile=deep` looks a thousand times longer than usual."""

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=100_000)
settings.load_profile("default")
