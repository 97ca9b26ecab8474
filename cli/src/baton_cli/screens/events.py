"""A task's trail."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen


def listed(screen: Screen, trail: dict[str, Any]) -> None:
    rows = [
        (
            str(each["seq"]),
            screen.when(each["at"]),
            each["type"],
            f"{each['principal']['kind']}:{each['principal']['id']}",
            str(each["fence"]),
            each["hash"][:12],
        )
        for each in trail["events"]
    ]
    screen.table(("#", "When", "What", "By", "Fence", "Hash"), rows)


def line(screen: Screen, entry: dict[str, Any]) -> None:
    by = f"{entry['principal']['kind']}:{entry['principal']['id']}"
    screen.line(f"{entry['seq']:>3}  {entry['at']}  {entry['type']:<22} {by}")


def verdict(screen: Screen, said: dict[str, Any]) -> None:
    if said["intact"]:
        screen.marked("✓", f"{said['events']} entries, each chained to the one before", "green")
    else:
        screen.marked("✗", f"entry {said['broken_at']}: {said['problem']}", "red")
    if said["matches_task"]:
        screen.marked("✓", "the task is as its trail says", "green")
    else:
        screen.marked("✗", "the task isn't as its trail says", "red")
    if said["head_hash"]:
        screen.line(f"Its last hash, to be noted elsewhere: {said['head_hash']}", "dim")
