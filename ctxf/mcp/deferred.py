"""Imports the SDK without building its pydantic models, because agents wait for `ctxf mcp` to start.

The SDK defines some 600 pydantic models. To build their validators takes 90 of the 520 ms until the first
answer of `ctxf mcp`; a session needs a few dozen of them, which pydantic builds at their first use.
This changes only when they are built: a version of the SDK or of pydantic that ignores it starts slower.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pydantic

__all__ = ["deferred_models"]


_T = TypeVar("_T")


class _DeferredAdapter(pydantic.TypeAdapter[_T]):  # type: ignore[misc]
    """Defers its build, as a `ConfigDict(defer_build=True)` would, which the SDK does not pass."""

    _defer_build = True


@contextmanager
def deferred_models() -> Iterator[None]:
    """Within this, pydantic models and adapters that modules define are built when they are first used."""
    config, adapter = pydantic.BaseModel.model_config, pydantic.TypeAdapter
    pydantic.BaseModel.model_config = pydantic.ConfigDict(**{**config, "defer_build": True})
    pydantic.TypeAdapter = _DeferredAdapter  # type: ignore[misc]
    try:
        yield
    finally:
        pydantic.BaseModel.model_config = config
        pydantic.TypeAdapter = adapter  # type: ignore[misc]
