"""MiniStack, the local engine, as a background process behind our front door."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tools.stack.background import Background, NotListening, StackError, essentials, is_free, make_private
from tools.stack.front_door import ENGINE_KEY, READY

__all__ = ["REGION", "Access", "Engine", "StackError"]

REGION = "us-east-1"
FRONT_DOOR = Path(__file__).with_name("front_door.py")
QUEUE_ADDRESS = re.compile(r"//localhost:\d+/(?=\d{12}/)")


@dataclass(frozen=True)
class Access:
    """Where an engine answers, and the key without which it refuses (tools/stack/front_door.py)."""

    port: int
    key: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Engine:
    """An engine whose files are all under `home`: its key, its state, its log, and what it unpacks while it runs.
    ``python``: that of the environment which it is installed in."""

    home: Path
    python: Path

    @property
    def key(self) -> str:
        """Made once, with the first start; empty before that."""
        path = self.home / "engine.key"
        return path.read_text() if path.exists() else ""

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def scratch(self) -> Path:
        return self.home / "tmp"

    def running(self) -> tuple[int, int] | None:
        """Its process id and port, or None."""
        return self._process.running()

    def start(self, port: int, *, keep_state: bool) -> int:
        """Start it on 127.0.0.1 and return its process id once it answers.

        Raises NotListening if the port is taken or the engine ends, StackError if it doesn't come up.
        """
        if not is_free(port):
            raise NotListening(f"port {port} is taken by another program; choose one: BATON_PORT={port + 1} make …")
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.state):
            make_private(folder, deep=True)
        access = Access(port, self.key or self._new_key())
        return self._process.start(
            [self.python, "-P", FRONT_DOOR],
            self._environment(access, keep_state),
            port,
            is_ready=lambda: _is_ready(access),
            prepare=lambda: self._mend_state(port),
        )

    def stop(self) -> bool:
        """Ask it to save its state and end; False if none runs."""
        stopped = self._process.stop()
        if stopped:
            shutil.rmtree(self.scratch, ignore_errors=True)
        return stopped

    @property
    def _process(self) -> Background:
        return Background("the local engine", self.home, "engine")

    def _new_key(self) -> str:
        key = secrets.token_hex(20)
        path = self.home / "engine.key"
        path.touch(mode=0o600)
        path.write_text(key)
        return key

    def _mend_state(self, port: int) -> None:
        """The engine keeps its queues under addresses with the port, and on another port finds none of them. It keeps
        how far a table's stream was read but not the stream, and then is deaf to as much of the new one."""
        for path in self.state.glob("*.json"):
            text = path.read_text()
            moved = QUEUE_ADDRESS.sub(f"//localhost:{port}/", text)
            if moved != text:
                path.write_text(moved)
        functions = self.state / "lambda.json"
        if functions.exists():
            kept = json.loads(functions.read_text())
            kept["payload"].get("dynamodb_stream_positions", {})["data"] = {}
            functions.write_text(json.dumps(kept))

    def _environment(self, access: Access, keep_state: bool) -> dict[str, str]:
        return essentials() | {
            ENGINE_KEY: access.key,  # the functions inherit it
            "AUTH": "true",  # the functions' roles are enforced
            "GATEWAY_PORT": str(access.port),
            "AWS_DEFAULT_REGION": REGION,
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1" if keep_state else "0",
            "STATE_DIR": str(self.state),
            "TMPDIR": str(self.scratch),
            "DOCKER_HOST": f"unix://{self.scratch / 'none'}",  # never touch the containers of whoever runs Docker
            "IOT_MTLS_ENABLED": "0",  # listeners of their own, on fixed ports
            "SFTP_ENABLED": "0",
        }


def _is_ready(access: Access) -> bool:
    connection = HTTPConnection("127.0.0.1", access.port, timeout=2)
    try:
        connection.request(*READY, headers={"User-Agent": f"app/{access.key}"})
        return bool(json.load(connection.getresponse())["status"] == "completed")
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
