"""The bell as a page of a browser has it: WebSockets that a test answers, in the place of the browser's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

URL = "wss://bell.example/live"


@dataclass
class BrowserBell:
    """``sockets``: the connections so far. ``looks``: what was asked by them. ``is_silent``: nothing is answered.
    ``is_away``: each connection ends at once. ``is_over_rate``: each poll is refused for a minute."""

    sockets: list[Any] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    is_silent: bool = False
    is_away: bool = False
    is_over_rate: bool = False
    over: int = 0

    def stand_in(self, page: Any) -> None:
        page.route_web_socket(re.compile(f"^{URL}"), self._connected)

    def ring(self, times: int = 1) -> None:
        for number in range(times):
            self.sockets[-1].send(json.dumps({"ring": "lists", "id": f"{number:016x}"}))

    def _connected(self, socket: Any) -> None:
        self.sockets.append(socket)
        if self.is_away:
            socket.close(code=1008)
        socket.on_message(lambda text: self._asked(socket, text))
        socket.on_close(lambda *_: self._ended())

    def _asked(self, socket: Any, text: str) -> None:
        self.looks.append(text)
        if self.is_over_rate:
            socket.send('{"refused": "rate_limited", "retry_after_seconds": 60}')
            socket.close()
        elif not self.is_silent:
            socket.send('{"looked": "lists"}')

    def _ended(self) -> None:
        self.over += 1
