"""Decisions in the approvals queue: what a person is shown of a task, and the requests that decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from baton_cli.command_context import CommandContext
from baton_cli.key_queue import KeyTerminal, LineTerminal, says_yes
from baton_cli.request_warnings import Report
from baton_cli.request_warnings.sources import Handoffs
from baton_cli.screen import Screen
from baton_cli.screens import message
from baton_cli.screens.warnings import BAR
from baton_cli.similar_tasks import Item, differences, like, lookalikes
from baton_cli.trail_hashes import entries_of
from baton_client.core import Request
from baton_client.errors import Refused

MOST_AT_ONCE = 25
CHANGED = "agent_changed"
SEEN = ("revision", "digest", "agent_version", "agent_versions")
MOST_LOOKALIKES = 5
MOST_OF_A_FIELD = 2_000  # characters of one field of an agent that has changed


@dataclass(frozen=True, slots=True)
class ShownApproval:
    """A task as it is shown for approval. ``handoff``: None if the profile may not read it. ``late``: the results of
    claims that were over. ``trail``: the task's entries, empty for a new task. ``found``: the warnings about it."""

    item: Item
    handoff: Item | None
    late: list[Item]
    place: str
    trail: list[Item] = field(default_factory=list)
    found: Report | None = None

    def draw(self, screen: Screen, cut: message.Cut) -> None:
        from baton_cli.screens import approval

        approval.looked_at(screen, self, cut)


def shown_approval(app: CommandContext, items: list[Item], earlier: Handoffs) -> ShownApproval:
    """Returns the first of the waiting tasks as it is shown."""
    item, handoff = items[0], handoff_of(app, items[0])
    same, similar = len(like(item, items)) - 1, len(lookalikes(item, items))
    parts = [f"{len(items)} left"]
    parts += [f"{same} more with this very content"] if same else []
    parts += [f"{similar} that only look{'s' if similar == 1 else ''} like this: A says how"] if similar else []
    found = None if handoff is None else earlier.warnings(item, handoff)
    return ShownApproval(item, handoff, _late(app, item), ", ".join(parts), happened(app, item), found)


def handoff_of(app: CommandContext, item: Item) -> Item | None:
    """Returns what a task asks for; None if the profile may not read it."""
    try:
        found: Item = app.client.get(f"/handoffs/{item['handoff_id']}")
    except Refused:
        return None
    return found


def _late(app: CommandContext, item: Item) -> list[Item]:
    """Returns the late results that the task could be resolved with. A task in its first version has none."""
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
    """Returns the fields by which a decision names the content and the agent that the person saw."""
    return {name: view[name] for name in SEEN if view.get(name) is not None}


def digest_of(handoff: Item) -> dict[str, Any]:
    """Returns the digest of what was shown: the API refuses a decision if the content has changed since."""
    return {"digest": handoff["digest"]} if handoff.get("digest") else {}


def happened(app: CommandContext, item: Item) -> list[Item]:
    """Returns the entries of the task's trail; none for a task in its first version."""
    if item["version"] <= 1:
        return []
    return list(entries_of(app.client, item["id"]))


def tell_lookalikes(app: CommandContext, terminal: KeyTerminal, shown: ShownApproval, items: list[Item]) -> None:
    """Tells of the tasks that look like the shown one in a list, but have another content, and so aren't approved with
    it."""
    found = lookalikes(shown.item, items)
    for each in found[:MOST_LOOKALIKES]:
        other = handoff_of(app, each)
        is_unread = other is None or shown.handoff is None
        how = "its content can't be read" if is_unread else differences(shown.handoff or {}, other or {})
        terminal.say(f"- {each['id']} looks like this one, and has other content:")
        terminal.say(f"  {BAR} {how}")
    if len(found) > MOST_LOOKALIKES:
        terminal.say(f"- and {len(found) - MOST_LOOKALIKES} more")


def takes_as_it_is(app: CommandContext, terminal: LineTerminal, problem: dict[str, Any]) -> bool:
    """Shows how the agent has changed since the task came. Returns True if the person approves it
    nevertheless."""
    agent = problem["agent"]
    now = app.client.get(f"/agents/{agent}")
    terminal.say(f"✗ {problem['changed_by']} has changed {agent} since this came. It is now:")
    for name in problem["fields"]:
        for place, value in message.leaves(now.get(name), name):
            rest = f"… ({len(value) - MOST_OF_A_FIELD:,} more: baton agents show {agent})"
            terminal.say(f"- {place}: {value[:MOST_OF_A_FIELD]}{rest if len(value) > MOST_OF_A_FIELD else ''}")
    return says_yes(terminal, f"Approve it for {agent} as it is now")


def looked_at(problem: dict[str, Any]) -> dict[str, Any]:
    """Returns an approval's fields that name the agents seen after the refusal."""
    versions = problem.get("agent_versions")
    return {"agent_versions": versions} if versions else {"agent_version": problem["version"]}


def changed_agents(answers: list[Item]) -> dict[str, dict[str, Any]]:
    """Returns the refusals of approvals because of a changed agent, by the task's id."""
    return {each["task_id"]: each["problem"] for each in answers if (each["problem"] or {}).get("code") == CHANGED}


def approve_all(app: CommandContext, items: list[Item], purpose: str = "dispatch", key: str = "") -> list[Item]:
    """Approves the tasks, 25 in one request, and returns an answer for each. ``key``: tells several calls of one
    command apart."""
    answers: list[Item] = []
    for start in range(0, len(items), MOST_AT_ONCE):
        part = items[start : start + MOST_AT_ONCE]
        wanted = [{"task_id": each["id"], **seen(each), "for": purpose} for each in part]
        request = Request[Any]("POST", "/approvals", {"items": wanted}, f"{app.key}-{key}{start}")
        answers += app.client.call(request)["items"]
    return answers


def output_of(content: dict[str, Any]) -> Any:
    """Returns the output that a late completion brought, or its report if it has no output."""
    return content.get("completion") if content.get("output") is None else content["output"]
