"""`baton routes`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/routes",
        "List which agent gets which type of work.",
        columns="work_type:Type agent:Agent mode:Mode dispatch_rank:Rank version:Version updated_at:Age",
        is_paged=True,
    ),
    RequestCommand("show", "GET", "/routes/{work_type}", "Show a route."),
    RequestCommand(
        "set",
        "PUT",
        "/routes/{work_type}",
        "Give a type of work to an agent.",
        body=(
            Param("agent", "The agent.", is_required=True),
            Param("mode", "How it gets it.", choices=("dispatch", "next", "manual"), is_required=True),
            Param("dispatch_rank", "Its place among equals.", "number", flag="rank"),
            Param("version", "Refused if it has changed since.", "number"),
        ),
        said="{work_type} goes to {agent}",
    ),
    RequestCommand("delete", "DELETE", "/routes/{work_type}", "Take a route away.", said="taken away"),
)

command = noun("routes", "Say which agent gets which type of work.", CALLS)
