"""`baton tracker`: Notion."""

from __future__ import annotations

from baton_cli.calls import Call, Param
from baton_cli.table import noun

CALLS = (
    Call("health", "GET", "/tracker/health", "Show how it stands with the tracker."),
    Call(
        "token",
        "PUT",
        "/tracker/token",
        "Give Notion's token: --token - reads it from standard input.",
        body=(Param("token", "@FILE or -.", "long", is_required=True),),
        said="the token is kept",
    ),
    Call(
        "check",
        "POST",
        "/tracker/check",
        "Try the settings against the database.",
        body=(Param("tracker", "Settings that aren't saved yet: JSON, @FILE, or -.", "json"),),
        screen="tracker:checked",
    ),
    Call(
        "retry",
        "POST",
        "/tracker/retry",
        "Try pages again that were given up.",
        body=(Param("task_id", "Only this task's.", flag="task"),),
        said="{revived} revived, {hurried} hurried",
    ),
    Call(
        "import",
        "POST",
        "/tracker/import",
        "Take over the database's pages.",
        body=(),
        said="{opened} opened, {closed} closed, {known} known",
    ),
    Call("webhook", "GET", "/tracker/webhook", "Show the webhook."),
    Call("open-webhook", "POST", "/tracker/webhook", "Open an address for Notion. It is shown once.", body=()),
    Call("close-webhook", "DELETE", "/tracker/webhook", "Close the address.", said="closed"),
)

command = noun("tracker", "Connect Notion, and see how it stands with it.", CALLS)
