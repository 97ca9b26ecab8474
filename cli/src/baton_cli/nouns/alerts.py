"""`baton alerts`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

NOTE = Param("note", "What was found, or done.", "long")
STATED = "{id} is {state}"

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/alerts",
        "List alerts, newest first.",
        query=(
            Param("state", "Only these.", choices=("open", "acknowledged", "resolved")),
            Param("task_id", "Of a task.", flag="task"),
            Param("snoozed", "Those that are put off now, or the others.", choices=("true", "false")),
        ),
        columns="id:ID severity:Severity state:State kind:Kind raised_at:Age task_id:Task message:Message",
        is_paged=True,
    ),
    RequestCommand("show", "GET", "/alerts/{alert_id}", "Show an alert."),
    RequestCommand(
        "raise",
        "POST",
        "/alerts",
        "Tell people of something.",
        body=(
            Param("kind", "What kind of thing, in one word.", is_required=True),
            Param("severity", "How bad it is.", choices=("info", "warning", "critical"), is_required=True),
            Param("message", "What it is.", "long", is_required=True),
            Param("task_id", "The task that it is about.", flag="task"),
        ),
        said=STATED,
    ),
    RequestCommand("ack", "POST", "/alerts/{alert_id}/acknowledge", "Say that it was seen.", body=(NOTE,), said=STATED),
    RequestCommand(
        "snooze",
        "POST",
        "/alerts/{alert_id}/snooze",
        "Put it off until a time.",
        body=(Param("until", "When it is there again.", "future", is_required=True),),
        said="{id} is put off until {snoozed_until}",
    ),
    RequestCommand("resolve", "POST", "/alerts/{alert_id}/resolve", "Close it.", body=(NOTE,), said=STATED),
)

command = noun("alerts", "See what needs a person, and say that it was seen.", CALLS)
