"""Importing the SDK with its models left unbuilt: for `ctxf mcp` alone, which agents wait for.

The SDK defines some 600 pydantic models, and building their validators is a third of its import; a session
needs a few dozen, which pydantic then builds at their first use. Nothing here is anything but when: where a
version of the SDK or of pydantic goes another way about it, the server starts slower and that is all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pydantic

__all__ = ["deferred_models"]


_T = TypeVar("_T")


class _DeferredAdapter(pydantic.TypeAdapter[_T]):  # type: ignore[misc]
    """As `ConfigDict(defer_build=True)` makes a TypeAdapter, where nobody can hand it that."""

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
