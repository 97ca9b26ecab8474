"""The screen of a task's trail."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen


def listed(screen: Screen, trail: dict[str, Any]) -> None:
    """Draws the entries. A human's entry names the token, as several tokens may have one name, and the content that the
    human saw."""
    columns = {
        "#": [str(each["seq"]) for each in trail["events"]],
        "When": [screen.when(each["at"]) for each in trail["events"]],
        "What": [each["type"] for each in trail["events"]],
        "By": [_who(each) for each in trail["events"]],
        "Token": [_token(each) for each in trail["events"]],
        "Seen": [_seen(each) for each in trail["events"]],
        "Fence": [str(each["fence"]) for each in trail["events"]],
        "Hash": [each["hash"][:12] for each in trail["events"]],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells) or name not in {"Token", "Seen"}}
    screen.table(tuple(shown), list(zip(*shown.values(), strict=True)))


def line(screen: Screen, entry: dict[str, Any]) -> None:
    token, seen = _token(entry), _seen(entry)
    said = f"  token {token}" if token else ""
    said += f"  seen {seen}" if seen else ""
    screen.line(f"{entry['seq']:>3}  {entry['at']}  {entry['type']:<22} {_who(entry)}{said}")


def _who(entry: dict[str, Any]) -> str:
    return f"{entry['principal']['kind']}:{entry['principal']['id']}"


def _token(entry: dict[str, Any]) -> str:
    token, session = entry["data"].get("token"), entry["data"].get("session")
    return f"{token}, session {session}" if token and session else str(token or "")


def _seen(entry: dict[str, Any]) -> str:
    """The beginning of the digest, as a task and a handoff show it."""
    return str(entry["data"].get("seen") or "")[:12]


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
