"""MiniStack, the local engine, as a background process."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from background import Background, StackError, essentials, is_free

__all__ = ["REGION", "Engine", "StackError"]

REGION = "us-east-1"
QUEUE_ADDRESS = re.compile(r"//localhost:\d+/(?=\d{12}/)")


@dataclass(frozen=True)
class Engine:
    """An engine whose files are all under `home`: its state, its log, and what it unpacks while it runs."""

    home: Path
    program: Path

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

        Raises StackError if the port is taken, or it doesn't come up.
        """
        if not is_free(port):
            raise StackError(f"port {port} is taken by another program; choose one: BATON_PORT={port + 1} make …")
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        return self._process.start(
            [self.program],
            self._environment(port, keep_state),
            port,
            is_ready=lambda: _is_ready(port),
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

    def _environment(self, port: int, keep_state: bool) -> dict[str, str]:
        return essentials() | {
            "AUTH": "true",  # the functions' roles are enforced
            "BIND_HOST": "127.0.0.1",  # its default is every interface, and it runs posted code
            "GATEWAY_PORT": str(port),
            "AWS_DEFAULT_REGION": REGION,
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1" if keep_state else "0",
            "STATE_DIR": str(self.state),
            "TMPDIR": str(self.scratch),
            "DOCKER_HOST": f"unix://{self.scratch / 'none'}",  # never touch the containers of whoever runs Docker
            "IOT_MTLS_ENABLED": "0",  # listeners of their own, on fixed ports
            "SFTP_ENABLED": "0",
        }


def _is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/_ministack/ready")
        return bool(json.load(connection.getresponse())["status"] == "completed")
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
