"""The screens of the approvals queue: the list, one task with its content, and the outcome of decisions."""

from __future__ import annotations

from typing import Any

from baton_cli.approval_decisions import ShownApproval
from baton_cli.next_steps import after
from baton_cli.screen import Screen
from baton_cli.screens import message, needed, warnings
from baton_cli.screens.question import who_may
from baton_cli.similar_tasks import content_of, direction
from baton_cli.state_words import said
from baton_cli.text import one_line


def listed(screen: Screen, items: list[dict[str, Any]], *, is_alone: bool = True) -> None:
    """Draws one table. Tasks with the same content have the same number. ``is_alone``: nothing else is listed."""
    if not items:
        screen.line("nothing waits" if is_alone else "no handoff waits", "dim")
        return
    contents = list(dict.fromkeys(map(content_of, items)))
    rows = [
        (
            each["id"],
            str(contents.index(content_of(each)) + 1),
            each["priority"],
            screen.when(each["created_at"]),
            each["source_agent"],
            _target(each),
            each["title"],
        )
        for each in items
    ]
    screen.table(("ID", "Content", "P", "Age", "From", "To", "About"), rows)
    screen.line()
    screen.unwrapped("One number, one content. next: baton approvals, on a terminal; baton tasks show ID", "dim")


def looked_at(screen: Screen, shown: ShownApproval, cut: message.Cut) -> None:
    item, handoff = shown.item, shown.handoff
    screen.line()
    screen.title(direction(item))
    screen.marked(warnings.BAR, one_line(item["title"]), "dim", indent=1)
    age = screen.ago(item["created_at"])
    screen.line(f"{item['id']} · {item['priority']} · {item['kind']} · {age} · {shown.place}", "dim")
    _history(screen, item)
    _approvers(screen, item)
    _taken_back(screen, shown.trail)
    if shown.found is not None:
        first = f"First handoff from {direction(item, 'to')}: nothing to compare with"
        warnings.drawn(screen, shown.found, first)
    if handoff is None:
        screen.line("Its content can't be read with this profile: it can't be approved here.", "red")
    else:
        if one_line(handoff["target"]["reason"]) != one_line(item["title"]):
            screen.marked("Reason:", handoff["target"]["reason"])
        message.asked(screen, handoff, cut)
    _late(screen, shown.late, cut)
    if shown.found is not None and shown.found.warnings:
        screen.line()
        screen.line(f"Look twice, as listed above: {warnings.summary(shown.found.warnings)}.", "yellow")
    if cut.hidden:
        screen.line()
        screen.line(f"{cut.hidden:,} characters aren't shown: v shows them.", "yellow")


def _approvers(screen: Screen, item: dict[str, Any]) -> None:
    """Draws the people who may approve by rules of the settings, and the given approvals."""
    for held in item.get("held", []):
        given = ", ".join(f"human:{by}" for by in held["given"]) or "nobody of them yet"
        needs = f"{who_may(held)}; {held['needed']} needed; approved by {given}"
        screen.line(one_line(f"{held['agent']} can't claim it before it has the approval of {needs}"), "yellow")
    if item.get("held") or (rule := item.get("approval")) is None:
        return
    given = ", ".join(f"human:{each['by']}" for each in rule["given"]) or "nobody yet"
    screen.line(one_line(f"{who_may(rule)}; {rule['needed']} needed; approved by {given}"), "yellow")


def _target(item: dict[str, Any]) -> str:
    """Returns the target, and the agents that rules hold the ready task back from."""
    target = item["target_agent"] or "any agent"
    held = sorted({each["agent"] for each in item.get("held", [])})
    return f"{target}, held from {', '.join(held)}" if held else str(target)


def _history(screen: Screen, item: dict[str, Any]) -> None:
    """Draws the attempts, flags and deadline that the task has by now."""
    said = [f"attempt {item['attempt']} of {item['max_attempts']}"] if item["attempt"] else []
    said += [each.replace("_", " ") for each in item["flags"]]
    said += [f"deadline {screen.ago(item['deadline'])}"] if item["deadline"] else []
    if said:
        screen.line(", ".join(said), "yellow")


def _taken_back(screen: Screen, trail: list[dict[str, Any]]) -> None:
    """Draws an approval that doesn't hold any more, as its agent was changed since."""
    last = [each for each in trail if each["type"] in {"approved", "approval_undone"}][-2:]
    if len(last) < 2 or last[1]["data"].get("reason") != "agent_changed":
        return
    (approved, undone), by = last, last[0]["principal"]
    when, what = screen.ago(approved["at"]), undone["data"]
    change = f"{what['changed_by']} changed {what['agent']}: {', '.join(what['fields'])}"
    screen.line(one_line(f"was approved by {by['kind']}:{by['id']}, {when}; since then {change}"), "yellow")


def _late(screen: Screen, late: list[dict[str, Any]], cut: message.Cut) -> None:
    if late:
        screen.heading("Came Too Late (t takes it)")
    for number, each in enumerate(late, 1):
        screen.marked(f"{number}.", f"{each['agent']}, {screen.ago(each['at'])}, under claim {each['fence']}")
        content = {**(each["content"].get("completion") or {}), "output": each["content"].get("output")}
        for line in cut.lines([f"{place}: {value}" for place, value in message.leaves(content)]):
            screen.marked("-", line, indent=3)


def answered(screen: Screen, items: list[dict[str, Any]]) -> None:
    for each in items:
        if each["problem"] is None:
            screen.marked("✓", f"{each['task_id']} is {said(each['task']['state'])}", "green")
            needed.counted(screen, each["task"])
        else:
            screen.marked("✗", f"{each['task_id']}: {each['problem']['detail']}", "red")
            screen.unwrapped(
                f"  next: {after(each['problem']['status'], each['problem']['code'], each['problem'])}", "dim"
            )
    if not items:
        screen.line("nothing waits", "dim")
