"""MiniStack, the local engine, as a background process behind our front door."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tools.stack.background import Background, StackError, essentials, make_private
from tools.stack.front_door import ENGINE_KEY, READY, SAVE
from tools.stack.keeper import RUN, SAVES
from tools.stack.ports import ENGINE, must_be_free
from tools.stack.saves import Saves

__all__ = ["REGION", "Access", "Engine", "StackError"]

REGION = "us-east-1"
FRONT_DOOR = Path(__file__).with_name("front_door.py")
SAVE_SECONDS = 60.0
NO_CONTENT = 204
_RUNS_ON = (
    "The engine still runs, and nothing is lost. Remove the cause, and call `make stop` again. `kill {pid}` ends it; "
    "what isn't saved is lost then."
)
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
    def saves(self) -> Saves:
        return Saves(self.state)

    @property
    def work(self) -> Path:
        """Where the engine reads its state from at its start."""
        return self.scratch / "state"

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
        must_be_free(ENGINE, port)
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.state):
            make_private(folder, deep=True)
        access, run = Access(port, self.key or self._new_key()), secrets.token_hex(8)
        pid = self._process.start(
            [self.python, "-P", FRONT_DOOR],
            self._environment(access, run, keep_state),
            port,
            is_ready=lambda: _is_ready(access),
            prepare=lambda: self._unpack_state(port),
        )
        if keep_state:
            self.saves.begin(run, datetime.now(UTC))
        return pid

    def save(self) -> None:
        """Have it save its state, if it keeps one. Raises StackError with the reason if it doesn't."""
        found = self.running()
        if found is not None and self.saves.run() is not None:
            failed = _asked_to_save(Access(found[1], self.key))
            if failed:
                raise StackError(f"the state of the local engine isn't saved in {self.state}: {failed}")

    def stop(self, *, forget: bool = False) -> bool:
        """Have it save its state and end; False if none runs. ``forget``: end it without regard to its state.

        Raises StackError if it can't save, and then it runs on.
        """
        found = self.running()
        if not forget:
            try:
                self.save()
            except StackError as error:
                raise StackError(f"{error}\n{_RUNS_ON.format(pid=found[0] if found else '')}") from error
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

    def _unpack_state(self, port: int) -> None:
        """The newest save, in a form that the engine goes on with. It keeps its queues under addresses with the port,
        and on another port finds none of them. It keeps how far a table's stream was read but not the stream, and then
        is deaf to as much of the new one."""
        self.saves.unpack(self.work)
        for path in self.work.glob("*.json"):
            text = path.read_text()
            moved = QUEUE_ADDRESS.sub(f"//localhost:{port}/", text)
            if moved != text:
                _replace(path, moved)
        functions = self.work / "lambda.json"
        if functions.exists():
            kept = json.loads(functions.read_text())
            kept["payload"].get("dynamodb_stream_positions", {})["data"] = {}
            _replace(functions, json.dumps(kept))

    def _environment(self, access: Access, run: str, keep_state: bool) -> dict[str, str]:
        return essentials() | {
            ENGINE_KEY: access.key,  # the functions inherit it
            "AUTH": "true",  # the functions' roles are enforced
            "GATEWAY_PORT": str(access.port),
            "AWS_DEFAULT_REGION": REGION,
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1" if keep_state else "0",
            "STATE_DIR": str(self.work),
            SAVES: str(self.state),
            RUN: run,
            "TMPDIR": str(self.scratch),
            "DOCKER_HOST": f"unix://{self.scratch / 'none'}",  # never touch the containers of whoever runs Docker
            "IOT_MTLS_ENABLED": "0",  # listeners of their own, on fixed ports
            "SFTP_ENABLED": "0",
        }


def lost(since: datetime) -> str:
    return f"changes since {since.astimezone():%Y-%m-%d %H:%M:%S %Z} are lost, and earlier ones are kept"


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text)
    beside.replace(path)


def _asked_to_save(access: Access) -> str:
    """The reason why it isn't saved, or nothing."""
    connection = HTTPConnection("127.0.0.1", access.port, timeout=SAVE_SECONDS)
    try:
        connection.request(*SAVE, headers={"User-Agent": f"app/{access.key}"})
        answer = connection.getresponse()
        said = answer.read()
        return "" if answer.status == NO_CONTENT else str(json.loads(said)["message"])
    except (OSError, HTTPException, ValueError, KeyError) as error:
        return f"it doesn't answer ({error!r})"
    finally:
        connection.close()


def _is_ready(access: Access) -> bool:
    connection = HTTPConnection("127.0.0.1", access.port, timeout=2)
    try:
        connection.request(*READY, headers={"User-Agent": f"app/{access.key}"})
        return bool(json.load(connection.getresponse())["status"] == "completed")
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
