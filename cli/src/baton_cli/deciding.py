"""What a person at the approvals queue sees, and how what they decide is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from baton_cli.app import App
from baton_cli.likeness import Item
from baton_cli.wire import Request

MOST_AT_ONCE = 25
_LATEST = 50  # entries of a trail that are looked at


@dataclass(frozen=True, slots=True)
class Look:
    """What is on the screen. ``handoff``: None if it can't be read. ``late``: results that came too late.
    ``trail``: the latest entries, of a task that something has happened to."""

    item: Item
    handoff: Item | None
    late: list[Item]
    place: str
    trail: list[Item] = field(default_factory=list)


class Desk(Protocol):
    """Where a person sits: keys, lines, and what is shown."""

    def key(self) -> str:
        """Empty for one that is held down, or isn't a character."""

    def line(self, question: str) -> str:
        """Empty if nothing was typed."""

    def show(self, look: Look, *, is_whole: bool) -> int:
        """Returns how many characters were left out. Keys that were pressed before are gone."""

    def say(self, text: str) -> None: ...


def seen(view: Item) -> dict[str, Any]:
    """What a decision says of the content that was read, and of the agent that was looked at."""
    return {name: view[name] for name in ("revision", "digest", "agent_version") if view.get(name) is not None}


def digest_of(handoff: Item) -> dict[str, Any]:
    """Of what was shown: what has become another since it was listed is refused."""
    return {"digest": handoff["digest"]} if handoff.get("digest") else {}


def happened(app: App, item: Item) -> list[Item]:
    """The latest entries of its trail; nothing has happened to most."""
    if item["version"] <= 1:
        return []
    query = {"after": max(0, item["version"] - _LATEST), "limit": 100}
    found: list[Item] = app.client.get(f"/tasks/{item['id']}/events", query)["events"]
    return found


def approve_all(app: App, items: list[Item], purpose: str = "dispatch", key: str = "") -> list[Item]:
    """The answers, each of its own: 25 at once. ``key``: what tells several calls of one command apart."""
    answers: list[Item] = []
    for start in range(0, len(items), MOST_AT_ONCE):
        part = items[start : start + MOST_AT_ONCE]
        wanted = [{"task_id": each["id"], **seen(each), "for": purpose} for each in part]
        request = Request("POST", "/approvals", {"items": wanted}, f"{app.key}-{key}{start}")
        answers += app.client.call(request)["items"]
    return answers


def output_of(content: dict[str, Any]) -> Any:
    """What a completion brought: its output, as whoever waits for it expects it; without one, its report."""
    return content.get("completion") if content.get("output") is None else content["output"]
