"""Wrappers of a store around the store of one request."""

from __future__ import annotations

from typing import Any


def for_one_request(wrapped: Any, name: str) -> Any:
    """Returns a copy of the wrapper whose attribute ``name`` is the store at one version. It shares all other
    attributes."""
    store, kind = getattr(wrapped, name).at_one_version(), type(wrapped)
    found: Any = object.__new__(type(kind.__name__, (kind,), {name: property(lambda _: store)}))
    found.__dict__ = wrapped.__dict__
    return found
