"""`make run`: starts the local stack and plays the main job with real requests, for somebody who sees Baton the first
time.

Everything that is shown was sent over HTTP to the deployed functions and is printed as it came back; what is left out
of an answer is marked with an ellipsis. A second run on the same state goes on where the first one ended, its limits
included.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tools.demo.asking import scene_a_question
from tools.demo.chain import scene_a_chain
from tools.demo.models import scene_models
from tools.demo.stage import BOLD, DIM, PLAIN, Player, Refused, ask, escalate, heading, hire, show_answer, trail_of
from tools.demo.talk import scene_a_conversation, scene_two_at_once
from tools.demo.waiting import scene_the_bell
from tools.stack import stack as local
from tools.stack.background import StackError
from tools.stack.deployment import ROOT
from tools.stack.stack import Stack
from tools.stand_ins.notion import port_of

LEASE_SECONDS = 15
LOOK_SECONDS = 1.0
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Agents of the demo's own: what a guide or a reader does to others changes nothing here.
CAST: dict[str, dict[str, Any]] = {
    "watcher": {"name": "Client Health Watcher", "description": "Watches clients, escalates what it finds."},
    "inspector": {
        "name": "Client Repo Inspector",
        "description": "Inspects repositories. Baton's own process-task runs it, with scripted answers.",
        "runtime": "run",
    },
    "releaser": {"name": "Release Manager", "description": "Claims its work over the API."},
}


def play(player: Player) -> None:
    hire(player, CAST, approval="manual")
    doomed = _scene_a_worker_dies(player)
    task_id = _scene_a_handoff(player)
    _scene_approval_and_work(player, task_id)
    _scene_the_lost_task_comes_back(player, *doomed)
    _scene_the_trail(player, doomed[0])
    scene_a_chain(player)
    scene_a_conversation(player)
    scene_two_at_once(player)
    scene_models(player)
    scene_the_bell(player)
    scene_a_question(player)
    if port_of(player.stack.notion_url) is not None:
        _scene_notion(player)


def _scene_a_worker_dies(player: Player) -> tuple[str, str]:
    """The task, and the claim that the dead worker held."""
    heading("1. A worker takes a task, and dies", "A process of its own claims it for 15 s, then gets SIGKILL.")
    task_id = escalate(player, "releaser", "The release checklist of v2.4 is unsigned", "🟡 Medium")
    player.send("human", "POST", f"/tasks/{task_id}/approve", {}, show=("state", "ready_at"))
    _wait_until_ready(player, task_id)
    # The token goes through the environment: arguments are for everybody on the machine to see.
    environment = {**os.environ, "DEMO_TOKEN": player.tokens["releaser"], "DEMO_HOST": player.stack.api_url}
    environment["DEMO_ENDPOINT"] = player.stack.endpoint_url
    worker = subprocess.Popen(
        [sys.executable, "-m", "tools.demo", "worker", task_id], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )
    line = worker.stdout.readline().decode().strip() if worker.stdout else ""
    if not line:
        raise Refused("the worker could not claim its task")
    claim = json.loads(line)
    show_answer(200, claim, ("fence", "expires_at", "lease_seconds"))
    worker.send_signal(signal.SIGKILL)
    worker.wait(timeout=10)
    print(f"           worker process {worker.pid} was killed. Its task is claimed by a dead worker now.")
    return task_id, claim["claim_id"]


def _scene_a_handoff(player: Player) -> str:
    heading("2. One agent hands work to another", "The task is durable before the answer leaves.")
    task_id = escalate(
        player, "inspector", "Stale spike in CI failures; needs a client repo audit", "🔴 High", aloud=True
    )
    print("\n           The agent asks again, as agents do. The circuit breaker knows the open task:")
    again = ask(
        player,
        "inspector",
        "CI is still red",
        "🔴 High",
        show=("task_created", "duplicate_prevented", "existing_task_url"),
    )
    if not again["duplicate_prevented"]:
        raise Refused("a duplicate was created")
    return task_id


def _scene_approval_and_work(player: Player, task_id: str) -> None:
    heading("3. A human approves, process-task does the work", "The notice comes once the undo window of 3 s is over.")
    player.send("human", "POST", f"/tasks/{task_id}/approve", {"revision": 1}, show=("state", "ready_at"))
    player.send(
        "human",
        "GET",
        f"/tasks/{task_id}/await?state=ended&timeout=25",
        show=("state", "attempt", "output", "timed_out"),
    )
    print("           The runner is scripted, and says so; a real one answers through the same port.")


def _scene_the_lost_task_comes_back(player: Player, task_id: str, dead_claim: str) -> None:
    heading("4. The dead worker's task comes back", "The agent's next worker takes it as soon as the lease is over.")
    path = "/agents/releaser/claims/wait?timeout=20"
    shown = ("fence", "recoveries", "lease_seconds")
    claim = player.send("releaser", "POST", path, {"worker": "worker-2"}, show=shown)
    print("           Had the first worker only been asleep, this is what it would be told when it wakes up:")
    late = {"claim_id": dead_claim, "output": "late"}
    player.send("releaser", "POST", f"/tasks/{task_id}/complete", late, show=("status", "code", "detail"), refused=True)
    body = {"claim_id": claim["claim_id"], "output": {"signed": True}}
    player.send("releaser", "POST", f"/tasks/{task_id}/complete", body, show=("state", "attempt", "output"))


def _scene_the_trail(player: Player, task_id: str) -> None:
    heading("5. Who did what", "Every change and its event are one write; each entry is chained to the one before.")
    trail_of(player, task_id)


def _scene_notion(player: Player) -> None:
    heading("12. The same with the tasks in Notion", "A local stand-in for it: this machine asks nobody else.")
    notion = player.stack.notion_url
    with httpx.Client(base_url=notion, timeout=30, trust_env=False) as person:
        database = person.get("/control/databases").raise_for_status().json()["databases"][0]
        player.send("human", "PUT", "/tracker/token", {"token": "ntn_of_the_local_stand_in"})
        settings = {"tracker": {"database": database["id"]}}
        player.send("human", "PUT", "/workspace/settings", settings, show=("version",))
        player.send("human", "POST", "/tracker/check", show=("ok",))
        _shake_hands(player, person)
        task_id, page_id = _mirrored(player)
        print(f"\n           The page is at {notion}/ui/pages/{page_id}. A person sets its status to Done there:")
        person.post(f"/control/pages/{page_id}", json={"status": "Done"}).raise_for_status()
        path = f"/tasks/{task_id}/await?state=ended&timeout=25"
        player.send("human", "GET", path, show=("state", "tracker", "timed_out"))
    trail_of(player, task_id)


def _shake_hands(player: Player, person: httpx.Client) -> None:
    """Opens the webhook, unless an earlier run has."""
    health = player.send("human", "GET", "/tracker/health", show=("configured", "status", "waiting", "webhook"))
    if health["webhook"]["state"] in {"installed", "verified"}:
        return
    opened = player.send("human", "POST", "/tracker/webhook", show=("expires_at",))
    url = urlsplit(opened["url"])
    target = {"url": player.stack.endpoint_url + url.path, "host": url.netloc}
    person.post("/control/subscriptions", json=target).raise_for_status()


def _mirrored(player: Player) -> tuple[str, str]:
    """A new task, and its page."""
    show = ("task_created", "task_url", "tracker_page_id", "degraded_capabilities")
    task_id = escalate(player, "watcher", "The audit has found a leaked key", "🔴 High", source="releaser", also=show)
    for _ in range(60):
        with player.stack.http(player.tokens["human"]) as client:
            tracker = client.get(f"/tasks/{task_id}").raise_for_status().json()["tracker"]
        if tracker["page_id"]:
            return task_id, str(tracker["page_id"])
        time.sleep(0.5)
    raise Refused("the task has no page after 30 s")


def _wait_until_ready(player: Player, task_id: str) -> None:
    with player.stack.http(player.tokens["human"]) as client:
        ready_at = client.get(f"/tasks/{task_id}").json()["ready_at"]
    left = time.mktime(time.strptime(ready_at[:19], "%Y-%m-%dT%H:%M:%S")) - time.mktime(time.gmtime()) + 1.2
    time.sleep(min(max(left, 0), 10))


def worker(task_id: str) -> int:
    """The process that the demo kills: claims over HTTP, says so, and works for ever."""
    host = os.environ["DEMO_HOST"].split("//", 1)[1]
    headers = {"Host": host, "Authorization": f"Bearer {os.environ['DEMO_TOKEN']}"}
    with httpx.Client(base_url=os.environ["DEMO_ENDPOINT"], headers=headers, timeout=30, trust_env=False) as client:
        body = {"worker": f"worker-1 (process {os.getpid()})", "lease_seconds": LEASE_SECONDS}
        claim = client.post(f"/tasks/{task_id}/claim", json=body).raise_for_status().json()
    print(json.dumps(claim), flush=True)
    time.sleep(120)
    return 0


def _closing(stack: Stack) -> None:
    tokens = os.path.relpath(local.HOME / "stack.json")
    host = stack.api_url.split("//", 1)[1]
    print(f"\n{BOLD}It is yours now.{PLAIN}")
    print(f"  API     {stack.api_url}")
    print(f"  tokens  {tokens} (readable by you only; good for this stack alone)")
    is_ours = port_of(stack.notion_url) is not None
    what = (
        "a stand-in on this machine: its page lists the tasks, and closes them"
        if is_ours
        else "as BATON_NOTION_URL says"
    )
    print(f"  Notion  {stack.notion_url} ({what})\n")
    print("  Try, in another terminal:")
    print("    make install && baton up         # the command, and its profiles for this stack")
    print("    baton tasks list                 # what was just played")
    print("    baton chat sales                 # a conversation that finds its agent")
    print("    baton console                    # the pages for people, signed in\n")
    print("  By hand:")
    print(f'    TOKEN=$(python3 -c \'import json; print(json.load(open("{tokens}"))["tokens"]["human"])\')')
    print(f'    curl -s -H "Authorization: Bearer $TOKEN" {stack.api_url}/agents')
    print(f"  {DIM}(if {host} isn't found: curl -H 'Host: {host}' {stack.endpoint_url}/…){PLAIN}\n")
    print(f"  The console, with that token: {stack.api_url}/console/")
    print(f"  or, once and within a minute, signed in: {sign_in_link(stack)}")


def sign_in_link(stack: Stack) -> str:
    """Opens the console as the human of this stack. Its code is good for 60 s, and once. The address's fragment, which
    no server sees, has it."""
    with stack.http(stack.tokens["human"]) as client:
        code = client.post("/session-codes", json={}).raise_for_status().json()["code"]
    return f"{stack.api_url}/console/#code={code}"


def listen() -> None:
    """Ctrl-C, SIGTERM (a shell's background job ignores Ctrl-C) and a closed terminal all end the demo once."""
    for each in _ENDINGS:
        signal.signal(each, _end)


def _end(number: int, _: object) -> None:
    for each in _ENDINGS:
        signal.signal(each, signal.SIG_IGN)  # what is being stopped saves its state
    if number == signal.SIGHUP:  # nobody reads on, and a terminal that is gone can't be written to
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    raise KeyboardInterrupt


def stay(home: Path = local.HOME, *, ours: bool) -> int:
    """The exit code: 1 if the stack ended by itself, or can't be stopped without a loss."""
    try:
        print("\nThe stack is up. Ctrl-C stops it; its state is saved for the next time.", flush=True)
        while local.engine_of(home).running():
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return leave(home, ours=ours)
    print("error: the local engine has ended; its log is .baton/engine.log, and `make run` starts it", file=sys.stderr)
    return 1


def leave(home: Path = local.HOME, *, ours: bool) -> int:
    print("\nstopping …", flush=True)
    if not ours:
        print("the stack was running before; `make stop` stops it")
        return 0
    try:
        local.down(home)
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("stopped; `make run` goes on from here")
    return 0


def main() -> int:
    if sys.argv[1:2] == ["worker"]:
        return worker(sys.argv[2])
    ours = not _is_up()
    listen()
    try:
        stack = local.up()
        play(Player(stack))
        _closing(stack)
    except (StackError, Refused, httpx.HTTPError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return leave(ours=ours) or 130
    return stay(ours=ours)


def _is_up() -> bool:
    try:
        local.current()
    except StackError:
        return False
    return True
