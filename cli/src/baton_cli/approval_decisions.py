"""Decisions at the approvals queue: what a person is shown of an item, and how a decision is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from baton_cli.command_context import CommandContext
from baton_cli.failures import ApiRefusal
from baton_cli.http_connection import HttpRequest
from baton_cli.screens import message
from baton_cli.similar_tasks import Item, differences, like, lookalikes
from baton_cli.trail_hashes import entries_of

MOST_AT_ONCE = 25
MOST_LOOKALIKES = 5
MOST_OF_A_FIELD = 2_000  # characters of what a service has made of an agent


@dataclass(frozen=True, slots=True)
class ShownApproval:
    """What is on the screen. ``handoff``: None if it can't be read. ``late``: results that came too late.
    ``trail``: the latest entries, of a task that something has happened to."""

    item: Item
    handoff: Item | None
    late: list[Item]
    place: str
    trail: list[Item] = field(default_factory=list)


class ApprovalScreen(Protocol):
    """The terminal of a person: its keys and lines, and what it shows."""

    def key(self) -> str:
        """Empty for one that is held down, or isn't a character."""

    def line(self, question: str) -> str:
        """Empty if nothing was typed."""

    def show(self, shown: ShownApproval, *, is_whole: bool) -> int:
        """Returns how many characters were left out. Keys that were pressed before are gone."""

    def say(self, text: str) -> None: ...


def shown_approval(app: CommandContext, items: list[Item]) -> ShownApproval:
    """The first of what waits."""
    item = items[0]
    same, similar = len(like(item, items)) - 1, len(lookalikes(item, items))
    parts = [f"{len(items)} left"]
    parts += [f"{same} more with this very content"] if same else []
    parts += [f"{similar} that only look{'s' if similar == 1 else ''} like this: A says how"] if similar else []
    return ShownApproval(item, handoff_of(app, item), _late(app, item), ", ".join(parts), happened(app, item))


def handoff_of(app: CommandContext, item: Item) -> Item | None:
    """What a task asks for; None where that may not be read."""
    try:
        found: Item = app.client.get(f"/handoffs/{item['handoff_id']}")
    except ApiRefusal:
        return None
    return found


def _late(app: CommandContext, item: Item) -> list[Item]:
    """Whoever ended a claim too late; nobody did where nothing has happened to the task."""
    if item["version"] <= 1:
        return []
    found: list[Item] = app.client.get(f"/tasks/{item['id']}/late-results", {"limit": 100})["items"]
    return [
        each
        for each in found
        if each["verb"] == "complete"
        and {"output", "completion"} & {*(each["content"] or ())}
        and "left_out" not in each["content"]
    ]


def seen(view: Item) -> dict[str, Any]:
    """What a decision says of the content that was read, and of the agent that was looked at."""
    return {name: view[name] for name in ("revision", "digest", "agent_version") if view.get(name) is not None}


def digest_of(handoff: Item) -> dict[str, Any]:
    """Of what was shown: what has become another since it was listed is refused."""
    return {"digest": handoff["digest"]} if handoff.get("digest") else {}


def happened(app: CommandContext, item: Item) -> list[Item]:
    """The entries of its trail; nothing has happened to most."""
    if item["version"] <= 1:
        return []
    return list(entries_of(app.client, item["id"]))


def tell_lookalikes(app: CommandContext, terminal: ApprovalScreen, shown: ShownApproval, items: list[Item]) -> None:
    """What a list shows alike isn't approved along, and is said."""
    found = lookalikes(shown.item, items)
    for each in found[:MOST_LOOKALIKES]:
        other = handoff_of(app, each)
        is_unread = other is None or shown.handoff is None
        how = "its content can't be read" if is_unread else differences(shown.handoff or {}, other or {})
        terminal.say(f"- {each['id']} looks like this, and isn't: {how}")
    if len(found) > MOST_LOOKALIKES:
        terminal.say(f"- and {len(found) - MOST_LOOKALIKES} more")


def takes_as_it_is(app: CommandContext, terminal: ApprovalScreen, problem: dict[str, Any]) -> bool:
    """An agent that a service has changed since the task came, once the person was shown how."""
    agent = problem["agent"]
    now = app.client.get(f"/agents/{agent}")
    terminal.say(f"✗ {problem['changed_by']} has changed {agent} since this came. It is now:")
    for name in problem["fields"]:
        for place, value in message.leaves(now.get(name), name):
            rest = f"… ({len(value) - MOST_OF_A_FIELD:,} more: baton agents show {agent})"
            terminal.say(f"- {place}: {value[:MOST_OF_A_FIELD]}{rest if len(value) > MOST_OF_A_FIELD else ''}")
    return terminal.line(f"Approve it for {agent} as it is now (y/N)?").lower() in {"y", "yes"}


def code_of(answer: Item) -> str:
    """Of the refusal; empty for what was approved."""
    return str((answer["problem"] or {}).get("code", ""))


def approve_all(app: CommandContext, items: list[Item], purpose: str = "dispatch", key: str = "") -> list[Item]:
    """The answers, each of its own: 25 at once. ``key``: what tells several calls of one command apart."""
    answers: list[Item] = []
    for start in range(0, len(items), MOST_AT_ONCE):
        part = items[start : start + MOST_AT_ONCE]
        wanted = [{"task_id": each["id"], **seen(each), "for": purpose} for each in part]
        request = HttpRequest("POST", "/approvals", {"items": wanted}, f"{app.key}-{key}{start}")
        answers += app.client.call(request)["items"]
    return answers


def output_of(content: dict[str, Any]) -> Any:
    """What a completion brought: its output, as whoever waits for it expects it; without one, its report."""
    return content.get("completion") if content.get("output") is None else content["output"]
