"""The part of the local engine's process that saves its state: each minute, when `make stop` asks, and at its end.

The engine by itself saves at its end alone, service by service, and a failure is a line in its log.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.stack.front_door import SAVE, Asgi, Message, Receive, Send
from tools.stack.saves import Saves

__all__ = ["RUN", "SAVES", "Keeper", "files_of"]

RUN, SAVES = "BATON_RUN", "BATON_SAVES"  # in the engine's environment: the run's name and the folder
SECONDS_BETWEEN = 60.0
SHARE = 20  # a save may take this part of the time at most
ATTEMPTS = 5  # threads of the engine may change its state while it is read

_log = logging.getLogger("keeper")


class Keeper:
    """``read``: the states of the engine's services, as of now. The engine's other files are in ``work``. Reading and
    writing both happen in the engine's one loop."""

    def __init__(self, saves: Saves, work: Path, run: str, read: Callable[[], Mapping[str, bytes]]) -> None:
        self._saves, self._work, self._run, self._read = saves, work, run, read

    def save(self, *, is_last: bool = False) -> str:
        """The reason why nothing was saved; empty if the save is whole."""
        for attempt in range(ATTEMPTS):
            try:
                self._saves.write(self._read(), self._work, self._run, datetime.now(UTC), is_last=is_last)
            except RuntimeError as error:  # "dictionary changed size during iteration"
                _log.warning("the state changed while it was read, attempt %d: %s", attempt + 1, error)
            except OSError as error:
                _log.exception("the state wasn't saved")
                return error.strerror or repr(error)
            else:
                return ""
        return "the state changes too quickly"

    def around(self, engine: Asgi) -> Asgi:
        """The engine, which also takes SAVE: 204, or 507 with the reason."""

        async def keeping(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                saving = asyncio.create_task(self._each_minute())
                try:
                    await engine(scope, receive, send)
                finally:
                    saving.cancel()
            elif scope["type"] == "http" and (scope["method"], scope["path"]) == SAVE:
                failed = self.save()
                body = json.dumps({"message": failed}).encode() if failed else b""
                kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
                await send({"type": "http.response.start", "status": 507 if failed else 204, "headers": kind})
                await send({"type": "http.response.body", "body": body})
            else:
                await engine(scope, receive, send)

        return keeping

    async def _each_minute(self) -> None:
        pause = SECONDS_BETWEEN
        with suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(pause)
                began = time.monotonic()
                self.save()
                pause = max(SECONDS_BETWEEN, SHARE * (time.monotonic() - began))


def files_of(services: Mapping[str, Callable[[], Any]], persistence: Any) -> dict[str, bytes]:
    """As the engine's own program writes them. ``persistence``: its module; a service without state gives None."""
    states = {name: get_state() for name, get_state in services.items()}
    return {
        f"{name}.json": json.dumps(
            {"__ministack_format__": persistence._state_format_version(name), "payload": state},
            default=persistence._json_default,
        ).encode()
        for name, state in states.items()
        if state is not None
    }
