"""What the demo's scenes are made of: requests that are sent and shown, and steps that several scenes take."""

from __future__ import annotations

import json
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.stack.stack import Stack

WIDTH = 100
BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


class Refused(Exception):
    """The API said no where the play needs a yes."""


class Player:
    """Sends the demo's requests, as the principal named, and shows them."""

    def __init__(self, stack: Stack) -> None:
        self.tokens: dict[str, str] = {"human": stack.tokens["human"]}
        self.stack = stack

    def send(
        self, who: str, method: str, path: str, body: Any = None, *, show: tuple[str, ...] = (), refused: bool = False
    ) -> Any:
        """The answer's body. ``show``: the fields to print, all of them if none is named. ``refused``: what it should
        be."""
        print(f"{DIM}{who:>9}  {BOLD}{method} {path}{PLAIN} {short(body)}", flush=True)
        with self.stack.http(self.tokens[who]) as client:
            response = client.request(method, path, json=body)
        answer = response.json() if response.content else {}
        show_answer(response.status_code, answer, show)
        if response.is_error is not refused:
            raise Refused(f"{method} {path} was answered with {response.status_code}{_why(answer)}")
        return answer


def _why(answer: Any) -> str:
    """The demo brings its own agents. What may differ are the workspace's settings, and the limits of the last hour."""
    if "code" not in answer:
        return ""
    return (
        f" {answer['code']}: {answer.get('detail', '')}\nIt plays with the settings as they come: baton settings show"
    )


def hire(player: Player, agents: dict[str, dict[str, Any]], *, approval: str) -> None:
    """Registers them as the play needs them, each with a token for a day."""
    expires_at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    with player.stack.http(player.tokens["human"]) as client:
        for slug, said in agents.items():
            body = {**said, "approval": approval, "active": True}
            client.put(f"/agents/{slug}", json=body).raise_for_status()
            asked = {"kind": "agent", "subject": slug, "expires_at": expires_at}
            player.tokens[slug] = client.post("/tokens", json=asked).raise_for_status().json()["token"]


def escalate(
    player: Player,
    target: str,
    reason: str,
    priority: str,
    *,
    source: str = "watcher",
    aloud: bool = False,
    also: tuple[str, ...] = (),
) -> str:
    """A new task, whatever earlier runs left behind: an open one is cancelled, the cap is lifted by a human's
    release."""
    show = ("task_created", "task_id", "duplicate_prevented", "escalation_capped", *also)
    answer = ask(player, target, reason, priority, source=source, show=show)
    if answer["duplicate_prevented"]:
        print("           A task of an earlier run is still open; the human cancels it.")
        for left in _open_tasks(player, source, target):
            body = {"reason": "left by an earlier demo"}
            player.send("human", "POST", f"/tasks/{left}/cancel", body, show=("state",))
        answer = ask(player, target, reason, priority, source=source, show=show)
    if aloud:
        print("\n           The block for the agent's digest:")
        print(textwrap.indent(answer["handoff_block"], "           │ "))
    if answer["escalation_capped"]:
        return _release(player, source, target)
    return str(answer["task_id"])


def _open_tasks(player: Player, source: str, target: str) -> list[str]:
    with player.stack.http(player.tokens["human"]) as client:
        path = f"/tasks?agent={target}&state=needs,delegated,next,claimed&limit=100"
        found = client.get(path).raise_for_status().json()["items"]
    return [task["id"] for task in found if task["source_agent"] == source]


def _release(player: Player, source: str, target: str) -> str:
    print("           Two escalations in seven days are the cap. A human looks, and lets this one through:")
    reviews = player.send("human", "GET", "/manual-reviews?state=open", show=("next_cursor",))["items"]
    review = next(each for each in reviews if (each["source_agent"], each["target_agent"]) == (source, target))
    released = player.send("human", "POST", f"/manual-reviews/{review['id']}/release", {}, show=("task_id",))
    task_id = str(released["task_id"])
    # A release approves at once; taking that back inside the undo window puts the task where the other runs have it.
    player.send("human", "POST", f"/tasks/{task_id}/undo", {}, show=("state",))
    return task_id


def ask(
    player: Player, target: str, reason: str, priority: str, *, show: tuple[str, ...], source: str = "watcher"
) -> Any:
    body = {
        "source_agent": source,
        "target_agent": target,
        "escalation_reason": reason,
        "source_digest_url": "https://notes.example/digests/2026-11-21",
        "task_priority": priority,
    }
    return player.send(source, "POST", "/handoff-markers", body, show=show)


def trail_of(player: Player, task_id: str) -> None:
    print(f"{DIM}    human  {BOLD}GET /tasks/{task_id}/events{PLAIN}")
    with player.stack.http(player.tokens["human"]) as client:
        events = client.get(f"/tasks/{task_id}/events").raise_for_status().json()["events"]
    for event in events:
        who = f"{event['principal']['kind']}:{event['principal']['id']}"
        print(f"           {event['seq']:>2}  {event['at']}  {event['type']:<18} {who:<24} {event['hash'][:12]}…")


def heading(title: str, subtitle: str) -> None:
    print(f"\n{BOLD}{title}{PLAIN}  {DIM}{subtitle}{PLAIN}\n{DIM}{'─' * WIDTH}{PLAIN}")


def _chosen(answer: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """``task.state`` is the state in the task."""
    shown: dict[str, Any] = {}
    for name in fields:
        first, _, rest = name.partition(".")
        if first in answer:
            inner = _chosen(answer[first], (rest,)) if rest else answer[first]
            shown[first] = {**shown.get(first, {}), **inner} if rest else inner
    return shown


def short(value: Any) -> str:
    return "" if value is None else textwrap.shorten(json.dumps(value, ensure_ascii=False), WIDTH, placeholder=" …")


def show_answer(status: int, answer: Any, fields: tuple[str, ...]) -> None:
    shown = _chosen(answer, fields) if fields else answer
    dots = " …" if len(shown) < len(answer) else ""
    text = json.dumps(shown, ensure_ascii=False)
    lines = textwrap.wrap(f"{status} {text}{dots}", WIDTH, break_long_words=False, subsequent_indent="    ")
    print(textwrap.indent("\n".join(lines), "        ↳  "), flush=True)
