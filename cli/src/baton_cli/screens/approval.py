"""What waits for a person: the list, one item with what would be approved, and what came of it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from baton_cli.approvals import direction, group_of
from baton_cli.screen import Screen
from baton_cli.screens import handoff as handoffs


def listed(screen: Screen, items: list[dict[str, Any]]) -> None:
    if not items:
        screen.line("nothing waits", "dim")
        return
    for _, alike in groupby(items, key=group_of):
        group = list(alike)
        many = f" ({len(group)})" if len(group) > 1 else ""
        screen.title(f"{direction(group[0])}: {group[0]['title']}{many}")
        rows = [
            (each["id"], each["priority"], str(each["revision"]), screen.when(each["created_at"])) for each in group
        ]
        screen.table(("ID", "P", "Revision", "Age"), rows)
        screen.line()


def looked_at(screen: Screen, item: dict[str, Any], handoff: dict[str, Any] | None, place: str) -> None:
    screen.line()
    screen.title(f"{direction(item)}: {item['title']}")
    screen.line(
        f"{item['id']} · {item['priority']} · {item['kind']} · {screen.ago(item['created_at'])} · {place}", "dim"
    )
    if handoff is not None:
        handoffs.wanted(screen, handoff)


def answered(screen: Screen, items: list[dict[str, Any]]) -> None:
    for each in items:
        if each["problem"] is None:
            screen.marked("✓", f"{each['task_id']} is {each['task']['state']}", "green")
        else:
            screen.marked("✗", f"{each['task_id']}: {each['problem']['detail']}", "red")
    if not items:
        screen.line("nothing waits", "dim")
