"""Baton's local stack: the template of the cloud, on this machine.

    python -m tools.stack up      start it, or bring a running one up to date
    python -m tools.stack down    save its state and stop it; if that fails, it runs on
    python -m tools.stack forget  stop it without regard to its state

`running()` gives a stack of its own to a test session or a bench. Whoever calls the API from Python uses
`Stack.http()`: it connects to 127.0.0.1 and names the API in the Host header, because not every resolver knows
`*.localhost`.

The API answers at a gateway, or with BATON_FRONT_DOOR=FunctionUrl at a Function URL, as the deployed one does.

Notion is played by a stand-in on the next port (BATON_NOTION_PORT names another one), unless BATON_NOTION_URL says
where Notion answers, such as https://api.notion.com.

Agents follow a script, unless BATON_MODEL_URL says where a model answers, such as http://127.0.0.1:11434/v1;
BATON_MODEL and BATON_MODEL_KEY say which one, and what it is asked with. BATON_SCRIPT names another script, which is
built in: `make stack` once more takes over what was changed in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from botocore.config import Config

from tools.stack import deployment, local_model
from tools.stack.background import StackError, alone, on_any_port
from tools.stack.deployment import ROOT, Say
from tools.stack.engine import REGION, Access, Engine, lost
from tools.stack.ports import DEFAULT_PORT, ENGINE, NOTION, configured
from tools.stand_ins.notion import StandIn, foreign_url, port_of, url_of

HOME = ROOT / ".baton"
WORKSPACE = "demo"
FRONT_DOORS = ("ApiGateway", "FunctionUrl")  # template.yaml: FrontDoor
WORKING_SECONDS = 60.0
ADMIN = "tools.admin.baton_admin"  # a program of its own, as an operator starts it
T = TypeVar("T")
# Of files that were written before there were these.
UNKNOWN_YET = {"tracker_queue_url": "", "tracker_dlq_url": "", "notion_url": "", "engine_key": ""}


@dataclass(frozen=True)
class Stack:
    """A running stack: what .baton/stack.json holds. It carries tokens: neither print it nor log it.

    ``engine_key``: what its AWS services ask for, beside the credentials "test"; the API at ``api_url`` doesn't.
    """

    api_url: str
    endpoint_url: str
    engine_key: str
    table: str
    queue_url: str
    dlq_url: str
    tracker_queue_url: str
    tracker_dlq_url: str
    notion_url: str
    port: int
    pid: int
    region: str
    functions: dict[str, str]
    workspace: str
    tokens: dict[str, Any]

    def http(self, token: str | None = None, *, timeout_seconds: float = 40.0) -> httpx.Client:
        """A client of the API, with this bearer token. The longest poll answers within 29 s."""
        headers = {"Host": urlsplit(self.api_url).netloc}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return httpx.Client(base_url=self.endpoint_url, headers=headers, timeout=timeout_seconds, trust_env=False)

    def aws(self, service: str, config: Config | None = None) -> Any:
        """A client of one of its services, with an administrator's rights."""
        return deployment.client(service, self.access, config)

    @property
    def access(self) -> Access:
        return Access(self.port, self.engine_key)


def up(
    home: Path = HOME,
    port: int | None = None,
    *,
    notion_port: int | None = None,
    keep_state: bool = True,
    say: Say = print,
) -> Stack:
    """Start the stack under `home`, or bring the running one up to date, and return it once its API answers.

    `port`: where the engine listens (0: on any that is free), else what BATON_PORT says, else 4566. `notion_port`:
    where the stand-in for Notion does (0: on any that is free), else what BATON_NOTION_PORT says, else the engine's and
    one. Raises StackError with the reason, and the end of the log that shows it.
    """
    engine = engine_of(home)
    port = configured(ENGINE) if port is None else port
    notion_port = configured(NOTION) if notion_port is None else notion_port
    front_door, model = _configured_front_door(), local_model.of_environment()
    foreign_url()  # before anything is started
    with alone(home, say):
        saved = _saved(home)
        last_notion_url = saved.notion_url if saved and engine.running() else ""
        pid, port = _started(engine, port, keep_state=keep_state, say=say)
        access = Access(port, engine.key)
        usual_port = port_of(last_notion_url) or port + 1
        notion_url = _notion(home, notion_port, usual_port, keep_state=keep_state, say=say)
        # A rule is heard at once here: nothing costs anything.
        wanted = {"LocalPort": str(port), "NotionUrl": notion_url, "FrontDoor": front_door, "Events": "on"}
        wanted |= model.parameters(access)
        _deploy(access, wanted, model.script, home, say)
        stack = _describe(access, pid, notion_url, saved)
        _await_api(stack)
        stack = _with_tokens(stack, say, had_workspace=bool(saved and saved.tokens))
        _save(stack, home)
        _save_state(engine, say)
    return stack


def down(home: Path = HOME, *, forget: bool = False, say: Say = print) -> bool:
    """Stop the programs under `home`, with their state saved, or without regard to it (`forget`). False if none ran.

    Raises StackError if the state can't be saved, and then all of them run on; or if the engine had ended without
    saving.
    """
    engine = engine_of(home)
    with alone(home, say):
        stopped = [engine.stop(forget=forget), StandIn(home.resolve()).stop()]
    lost_since = engine.saves.unsaved_since()
    if any(stopped) and lost_since and not forget:
        raise StackError(f"stopped, but the local engine ended without saving: {lost(lost_since)}")
    return any(stopped)


def current(home: Path = HOME) -> Stack:
    """The running stack. Raises StackError if there is none."""
    stack = _saved(home)
    if stack is None or engine_of(home).running() is None:
        raise StackError("no stack runs: `make stack` starts one")
    return stack


@contextmanager
def running(home: Path, *, say: Say = print) -> Iterator[Stack]:
    """A stack of its own under `home`, on a free port, that forgets everything at the end: for tests and the bench."""
    try:
        yield up(home, 0, notion_port=0, keep_state=False, say=say)
    finally:
        down(home, forget=True, say=say)


def _configured_front_door() -> str:
    name = os.environ.get("BATON_FRONT_DOOR") or FRONT_DOORS[0]
    if name not in FRONT_DOORS:
        raise StackError(f"BATON_FRONT_DOOR must be {' or '.join(FRONT_DOORS)}, and is {name!r}")
    return name


def engine_of(home: Path) -> Engine:
    return Engine(home.resolve(), deployment.environment_of_tools() / "stack" / "bin" / "python")


def _started(engine: Engine, port: int | None, *, keep_state: bool, say: Say) -> tuple[int, int]:
    """Process id and port of the engine, which is started unless it runs."""
    found = engine.running()
    if found is not None and not engine.key:  # one of an earlier version
        say("the local engine is started again, behind its front door")
        engine.stop()
        port, found = port or found[1], None
    if found is None:
        lost_since = engine.saves.unsaved_since()
        if lost_since:
            say(f"the last run ended without saving: {lost(lost_since)}")
        found = _on_port(port, DEFAULT_PORT, partial(engine.start, keep_state=keep_state))
        say(f"local engine started on 127.0.0.1:{found[1]}")
    elif port not in {None, 0, found[1]}:
        raise StackError(f"the stack already runs on port {found[1]}; `make stop` first")
    return found


def _on_port(port: int | None, usual_port: int, start: Callable[[int], T]) -> tuple[T, int]:
    """What ``start`` returns, and its port: any that is free for 0."""
    if port == 0:
        return on_any_port(start)
    port = port or usual_port
    return start(port), port


def _notion(home: Path, port: int | None, usual_port: int, *, keep_state: bool, say: Say) -> str:
    """Where Notion answers. The stand-in is started unless it runs; one that nobody needs any more is stopped."""
    stand_in = StandIn(home.resolve())
    foreign = foreign_url()
    if foreign is not None:
        stand_in.stop()
        return foreign
    found = stand_in.port()
    if found is None:
        _, found = _on_port(port, usual_port, partial(stand_in.start, keep_state=keep_state))
        say(f"stand-in for Notion started on 127.0.0.1:{found}")
    elif port not in {None, 0, found}:
        raise StackError(f"the stand-in for Notion already runs on port {found}; `make stop` first")
    return url_of(found)


def _deploy(access: Access, wanted: dict[str, str], script: Path | None, home: Path, say: Say) -> None:
    inputs = deployment.fingerprint(script)
    if deployment.is_current(deployment.deployed(access), inputs, wanted):
        say("nothing changed since the last deployment")
        return
    with deployment.built(inputs, say, script) as folder:
        deployment.deploy(folder, inputs, access, wanted, home, say)


def _describe(access: Access, pid: int, notion_url: str, saved: Stack | None) -> Stack:
    described = deployment.deployed(access)
    if described is None:
        raise StackError("the stack is gone from the engine")
    out = {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]}
    known = saved if saved is not None and saved.table == out["TableName"] else None
    return Stack(
        api_url=out["ApiUrl"],
        endpoint_url=access.url,
        engine_key=access.key,
        table=out["TableName"],
        queue_url=out["QueueUrl"],
        dlq_url=out["DlqUrl"],
        tracker_queue_url=out["TrackerQueueUrl"],
        tracker_dlq_url=out["TrackerDlqUrl"],
        notion_url=notion_url,
        port=access.port,
        pid=pid,
        region=REGION,
        functions={key.removesuffix("Function"): value for key, value in out.items() if key.endswith("Function")},
        workspace=known.workspace if known else WORKSPACE,
        tokens=known.tokens if known else {},
    )


def _await_api(stack: Stack) -> None:
    deadline = time.monotonic() + WORKING_SECONDS
    answer = "nothing"
    with stack.http() as client:
        while time.monotonic() < deadline:
            try:
                response = client.get("/healthz")
            except httpx.HTTPError as error:
                answer = repr(error)
            else:
                if response.status_code == httpx.codes.OK:
                    return
                answer = f"{response.status_code} {response.text[:500]}"
            time.sleep(0.3)
    raise StackError(f"GET /healthz doesn't answer 200 within {WORKING_SECONDS:.0f} s; it last said: {answer}")


def _with_tokens(stack: Stack, say: Say, *, had_workspace: bool) -> Stack:
    """The stack with tokens that work: those of the last time, or a demo workspace made anew."""
    if stack.tokens and _is_accepted(stack, stack.tokens["human"]):
        return stack
    if had_workspace:
        say("the engine doesn't know the last workspace: it gets a new one; earlier tokens and profiles are void")
    say(f"bootstrapping the workspace {stack.workspace}")
    finished = subprocess.run(
        [sys.executable, "-m", ADMIN, "bootstrap", "--workspace", WORKSPACE, "--demo", "--json"],
        cwd=ROOT,
        env=deployment.environment(
            deployment.credentials(stack.access) | {"BATON_TABLE": stack.table, "BATON_QUEUE_URL": stack.queue_url}
        ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if finished.returncode:
        raise StackError(f"the workspace could not be bootstrapped:\n{finished.stderr}")
    made = json.loads(finished.stdout)
    return Stack(**(asdict(stack) | {"workspace": made["workspace"], "tokens": made["tokens"]}))


def _is_accepted(stack: Stack, token: str) -> bool:
    with stack.http(token) as client:
        return client.get("/workspace/settings").status_code not in {401, 403}


def _save_state(engine: Engine, say: Say) -> None:
    """So that a kill of the engine doesn't take the deployment and the workspace."""
    try:
        engine.save()
    except StackError as error:
        say(f"warning: {error}")


def _save(stack: Stack, home: Path) -> None:
    # A file of mkstemp is readable by its owner only, from its first byte on; the rename makes it appear whole.
    handle, name = tempfile.mkstemp(dir=home, prefix="stack-")
    with os.fdopen(handle, "w") as file:
        json.dump(asdict(stack), file, indent=2)
        file.write("\n")
    Path(name).replace(home / "stack.json")


def _saved(home: Path) -> Stack | None:
    path = home / "stack.json"
    return Stack(**(UNKNOWN_YET | json.loads(path.read_text()))) if path.exists() else None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.stack", description="Baton's local stack")
    parser.add_argument("command", choices=["up", "down", "forget"])
    command = parser.parse_args().command
    try:
        if command == "forget":
            down(forget=True)
            return 0
        if command == "down":
            print("stopped; its state is saved" if down() else "no stack runs")
            return 0
        stack = up()
    except (StackError, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"API     {stack.api_url}")
    print(f"console {stack.api_url}/console/")
    print(f"Notion  {stack.notion_url}")
    print(f"tokens  {os.path.relpath(HOME / 'stack.json')}")
    return 0
