"""Where the local stack finds Notion: a stand-in for it on this machine, or the address that BATON_NOTION_URL names."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from baton.config import ConfigError, notion_url
from tools.stack.background import Background, StackError, essentials
from tools.stack.ports import NOTION, must_be_free

OK = 200
HERE = "http://127.0.0.1:"


@dataclass(frozen=True)
class StandIn:
    """tools/stand_ins/fake_notion as a background process. Its files are all under `home`."""

    home: Path

    @property
    def state(self) -> Path:
        return self.home / "notion.json"

    def port(self) -> int | None:
        """Where it answers; None if it doesn't."""
        found = self._process.running()
        return found[1] if found is not None and _answers(found[1]) else None

    def start(self, port: int, *, keep_state: bool) -> int:
        """Start it on 127.0.0.1, and return the port. Raises NotListening if that is taken or the program ends,
        StackError if it doesn't come up."""
        self._process.stop()  # one that doesn't answer
        must_be_free(NOTION, port)
        command: list[str | Path] = [sys.executable, "-m", "tools.stand_ins.fake_notion", "--port", str(port)]
        command += ["--state", self.state] if keep_state else []
        environment = essentials() | {"PYTHONPATH": str(Path(__file__).parents[2])}
        self._process.start(command, environment, port, is_ready=lambda: _answers(port))
        return port

    def stop(self) -> bool:
        """Ask it to save its state and end; False if none runs."""
        return self._process.stop()

    @property
    def _process(self) -> Background:
        return Background("the stand-in for Notion", self.home, "notion")


def url_of(port: int) -> str:
    return f"{HERE}{port}"


def port_of(url: str) -> int | None:
    """The inverse of `url_of`; None if the address is another one."""
    port = url.removeprefix(HERE)
    return int(port) if port.isdecimal() else None


def foreign_url() -> str | None:
    """The address that BATON_NOTION_URL names. Raises StackError if it is none."""
    if not os.environ.get("BATON_NOTION_URL"):
        return None
    try:
        return notion_url(os.environ)
    except ConfigError as error:
        raise StackError(str(error)) from error


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return bool(connection.getresponse().status == OK)
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
