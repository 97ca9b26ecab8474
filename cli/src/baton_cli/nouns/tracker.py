"""`baton tracker`: Notion."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand("health", "GET", "/tracker/health", "Show how it stands with the tracker."),
    RequestCommand(
        "token",
        "PUT",
        "/tracker/token",
        "Give Notion's token: --token - reads it from standard input.",
        body=(Param("token", "@FILE or -.", "long", is_required=True),),
        said="the token is kept",
    ),
    RequestCommand(
        "check",
        "POST",
        "/tracker/check",
        "Try the settings against the database.",
        body=(Param("tracker", "Settings that aren't saved yet: JSON, @FILE, or -.", "json"),),
        screen="tracker:checked",
    ),
    RequestCommand(
        "retry",
        "POST",
        "/tracker/retry",
        "Try pages again that were given up.",
        body=(Param("task_id", "Only this task's.", flag="task"),),
        said="{revived} revived, {hurried} hurried",
    ),
    RequestCommand(
        "import",
        "POST",
        "/tracker/import",
        "Take over the database's pages.",
        body=(),
        said="{opened} opened, {closed} closed, {known} known",
    ),
    RequestCommand("webhook", "GET", "/tracker/webhook", "Show the webhook."),
    RequestCommand(
        "open-webhook", "POST", "/tracker/webhook", "Open an address for Notion. It is shown once.", body=()
    ),
    RequestCommand("close-webhook", "DELETE", "/tracker/webhook", "Close the address.", said="closed"),
)

command = noun("tracker", "Connect Notion, and see how it stands with it.", CALLS)
