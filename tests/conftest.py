"""Hypothesis profiles: `default` for every run, `deep` for `--hypothesis-profile deep` (some 20 minutes)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.cli import Cli, make_cli

settings.register_profile("default", max_examples=150, deadline=None, derandomize=True)
settings.register_profile(
    "deep", max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("default")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line in an empty home."""
    return make_cli(tmp_path)
