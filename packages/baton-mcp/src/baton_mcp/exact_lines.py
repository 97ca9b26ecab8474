"""Lines of standard input and output that keep every digit of a number. The SDK reads each number as a ``float``."""

from __future__ import annotations

import io
import json
from typing import Any, TextIO

import anyio

from baton_client.numbers import loads, marked, unmarked


class ExactLines(anyio.AsyncFile[str]):
    """A stream of messages in UTF-8, whatever the platform's encoding is. In a message that is read, the numbers of a
    call's arguments are marked texts (``baton_client.numbers``); in a message that is written, each marked text becomes
    its number."""

    def __init__(self, stream: TextIO) -> None:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
        super().__init__(stream)

    async def readline(self) -> str:
        return marked_line(await super().readline())

    async def write(self, b: Any) -> int:
        return await super().write(unmarked(b))


def marked_line(line: str) -> str:
    """Returns the message with marked arguments. A line that is no call is returned unchanged."""
    try:
        message: Any = loads(line)
    except (ValueError, RecursionError):
        return line  # the SDK refuses it
    match message:
        case {"params": {"arguments": dict(arguments)}} if (found := marked(arguments)) != arguments:
            message["params"]["arguments"] = found
            return json.dumps(message) + "\n"
    return line
