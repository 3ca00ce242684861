"""Hypothesis profiles: `default` for every run, `deep` for `--hypothesis-profile deep` (some 20 minutes)."""

from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=150, deadline=None, derandomize=True)
settings.register_profile(
    "deep", max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("default")
