"""The depth of a message: the number of Baton's messages before it in its chain, each of which was sent while its
predecessor was handled.

The count travels in the attribute ``hops`` of the message. Lambda counts these chains too, but its bound of about 16 is
switched off in template.yaml, as a backlog that drains is a longer chain. This bound stands in its place
(docs/decisions/052-how-long-a-chain-of-notices-may-be.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# A message beyond it isn't sent. The sweeper's next message begins at 0, within a minute.
MAX_MESSAGE_DEPTH = 250
_ATTRIBUTE = "hops"
_DEPTH: ContextVar[int] = ContextVar("message_depth", default=0)


@contextmanager
def handling(record: Mapping[str, Any]) -> Iterator[None]:
    """Within it, messages are sent one deeper than the message of this SQS record, by every thread that has a copy of
    the context."""
    before = _DEPTH.set(_depth_of(record) + 1)
    try:
        yield
    finally:
        _DEPTH.reset(before)


def is_too_deep() -> bool:
    """True if the chain has reached its bound, so that no further message may be sent."""
    return _DEPTH.get() > MAX_MESSAGE_DEPTH


def depth_attribute() -> dict[str, Any]:
    """Returns the parameter with the depth of the message to be sent; nothing for the first message of a chain."""
    depth = _DEPTH.get()
    return {"MessageAttributes": {_ATTRIBUTE: {"DataType": "Number", "StringValue": str(depth)}}} if depth else {}


def _depth_of(record: Mapping[str, Any]) -> int:
    """Returns the depth of a received message; 0 if it has none, or one that isn't a number."""
    text = ((record.get("messageAttributes") or {}).get(_ATTRIBUTE) or {}).get("stringValue", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < len("1000000") else 0
