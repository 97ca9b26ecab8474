"""Baton's client. ``Baton`` is for threads, ``AsyncBaton`` for tasks; everything else is the same for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from baton_client.asynchronous import AsyncBaton as AsyncBaton
    from baton_client.asynchronous import AsyncWork as AsyncWork
    from baton_client.calls import Call as Call
    from baton_client.calls import Outcome as Outcome
    from baton_client.calls import Receipt as Receipt
    from baton_client.errors import BatonError as BatonError
    from baton_client.errors import ClaimLost as ClaimLost
    from baton_client.errors import Misused as Misused
    from baton_client.errors import NoAnswer as NoAnswer
    from baton_client.errors import Refused as Refused
    from baton_client.errors import Unreadable as Unreadable
    from baton_client.numbers import Number as Number
    from baton_client.runs import AsyncRun as AsyncRun
    from baton_client.runs import Run as Run
    from baton_client.synchronous import Baton as Baton
    from baton_client.synchronous import Work as Work

_PLACES = {
    "asynchronous": ("AsyncBaton", "AsyncWork"),
    "calls": ("Call", "Outcome", "Receipt"),
    "errors": ("BatonError", "ClaimLost", "Misused", "NoAnswer", "Refused", "Unreadable"),
    "numbers": ("Number",),
    "runs": ("AsyncRun", "Run"),
    "synchronous": ("Baton", "Work"),
}


def __getattr__(name: str) -> Any:
    """A name is loaded when it is first used: a program without tasks doesn't wait for httpx."""
    from importlib import import_module

    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"baton_client.{module}"), name)
    raise AttributeError(f"module 'baton_client' has no attribute {name!r}")
