"""`baton changes`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

DECIDED = "change:decided"
PATH = "/workspace/changes/{change_id}"

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/workspace/changes",
        "List changes of settings, tokens, agents, tools, routes, approvals and the tracker, newest first.",
        query=(
            Param(
                "subject",
                "Only these.",
                choices=("settings", "tokens", "agents", "tools", "routes", "approvals", "tracker"),
            ),
            Param("name", "Of a setting, an agent, a tool, a work type, a person, or a principal such as service:ci."),
            Param(
                "state",
                "Only these.",
                choices=("applied", "pending", "approved", "refused", "withdrawn", "expired"),
            ),
        ),
        columns="id:ID at:Age state:State subject:Subject names:Names by:By decided_by:Decided_by",
        is_paged=True,
    ),
    RequestCommand("show", "GET", PATH, "Show a change with the old and the new value.", screen="change:whole"),
    RequestCommand(
        "approve",
        "POST",
        f"{PATH}/approve",
        "Approve another administrator's change.",
        body=(Param("digest", "The digest of the change, as `baton changes show` prints it.", is_required=True),),
        screen=DECIDED,
    ),
    RequestCommand(
        "refuse",
        "POST",
        f"{PATH}/refuse",
        "Refuse another administrator's change, or end an approval that is not used yet.",
        body=(Param("reason", "Why.", "long"),),
        screen=DECIDED,
    ),
    RequestCommand(
        "withdraw", "POST", f"{PATH}/withdraw", "Take your own pending change back.", body=(), screen=DECIDED
    ),
)

command = noun("changes", "See changes of the workspace, and decide on pending ones.", CALLS)
