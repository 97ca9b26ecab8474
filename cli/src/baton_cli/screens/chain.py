"""The screen of a workflow: its nodes in the order of the work, with delegated work one lane to the right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_cli import times
from baton_cli.screen import Screen, Styled
from baton_cli.screens.states import ENDED, shown
from baton_cli.text import one_line

LANE = "    "
WIDEST_ARROW = 72
LONGEST_REASON = 200


def drawn(screen: Screen, chain: dict[str, Any]) -> None:
    screen.title(f"Handoff Chain: {chain['workflow_id']}")
    screen.line(_summary(chain), "dim")
    screen.line()
    nodes = list(walk(chain["nodes"]))
    for number, (node, lane) in enumerate(nodes):
        margin = LANE * lane
        to = one_line(node["agent"] or node["target_agent"] or "any agent")
        name = f"{one_line(node['source_agent'])} → {to}"
        room = min(screen.width, WIDEST_ARROW) - len(margin) - len(name) - 3
        screen.line(f"{margin}{name} {'─' * max(3, room)}▶", "bold")
        bar = f"{margin}{LANE}│"
        screen.line(bar)
        for line in step(screen, node):
            screen.line(f"{bar} {line.text}".rstrip(), line.style)
        if number + 1 < len(nodes):
            screen.line(f"{margin}{LANE}▼")


def walk(nodes: list[dict[str, Any]], lane: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Yields each node and its lane, parents before their children."""
    left = [(each, lane) for each in reversed(nodes)]
    while left:
        node, at = left.pop()
        yield node, at
        left += [(each, at + (each["kind"] == "delegation")) for each in reversed(node["children"])]


def has_ended(chain: dict[str, Any]) -> bool:
    return all(node["state"] in ENDED for node, _ in walk(chain["nodes"]))


def step(screen: Screen, node: dict[str, Any]) -> Iterator[Styled]:
    """Yields the lines of a node."""
    if node["hidden"]:
        yield Styled("(not for this reader)", "dim")
        return
    width = screen.width - 8
    yield Styled(_cut(f"{node['handoff_id']}: {one_line(node['title'])}", width), "")
    if said := _why(node):
        yield Styled(said, "dim")
    status = shown(node["state"])
    yield Styled(f"Status: {status.text}", status.style)
    if (duration := _duration(screen, node)) is not None:
        yield Styled(f"Duration: {duration}", "")
    if node["attempts"] > 1:
        yield Styled(f"Attempts: {node['attempts']}", "yellow")
    for line in (_files(node["files"]), _tests(node)):
        if line:
            yield Styled(line, "")
    if node["reason"]:
        yield Styled(_cut(f"Reason: {one_line(node['reason'])[:LONGEST_REASON]}", width), "")
    if node["left_out"]:
        yield Styled("(what came of it is left out: the chain is too long)", "dim")
    if node["rollback_target"]:
        yield Styled("", "")
        yield Styled(f"[ROLLBACK to {one_line(node['rollback_target'])}]", "bold red")


def _why(node: dict[str, Any]) -> str:
    """Returns the node's kind, unless it simply goes on from the node above it."""
    if node["retry_of"]:
        return f"Retry of: {node['retry_of']}"
    return f"Kind: {node['kind']}" if node["kind"] in {"rollback", "escalation"} else ""


def _summary(chain: dict[str, Any]) -> str:
    usage = chain["usage"]
    said = [f"{chain['handoffs']} handoff{'' if chain['handoffs'] == 1 else 's'}"]
    if usage["model_calls"]:
        said.append(f"{usage['model_calls']} model calls, {usage['input_tokens'] + usage['output_tokens']} tokens")
    return " · ".join(said)


def _duration(screen: Screen, node: dict[str, Any]) -> str | None:
    """Returns how long the node took, or has been going on; None if neither is known."""
    if node["duration_seconds"] is not None:
        return times.length(node["duration_seconds"])
    if node["started_at"] is None or node["state"] in ENDED:
        return None
    return f"{times.length((screen.now - times.parsed(node['started_at'])).total_seconds())} so far"


def _files(files: dict[str, list[str]]) -> str:
    said = [f"{len(files[name])} {name}" for name in ("created", "modified") if files[name]]
    return f"Files: {', '.join(said)}" if said else ""


def _tests(node: dict[str, Any]) -> str:
    created, passing = len(node["files"]["tests"]), (node["verification"] or {}).get("tests_passing")
    said = [f"{created} created"] if created else []
    if isinstance(passing, bool):
        said.append("passing" if passing else "failing")
    return f"Tests: {', '.join(said)}" if said else ""


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(1, width - 1)]}…"
