"""`baton reviews`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton_cli.command_table import noun
from baton_cli.request_commands import REASON, Param, RequestCommand
from baton_client.errors import Misused

VERSION = Param("version", "What was looked at: refused if it has changed since.", "number")
AGENT_VERSIONS = (
    Param("agent_version", "Of its agent, that was looked at: if it has changed since the latest request.", "number"),
    Param("agent_versions", "For open work: of each agent that was looked at, by its name.", "json"),
)
YES = Param("yes", "Release the latest request, whatever was looked at.", "yes")


def _names_what_was_read(body: dict[str, Any]) -> None:
    """Raises ``Misused`` for the release of an unread request."""
    if not body.pop("yes", False) and "version" not in body:
        raise Misused(
            "nobody has looked at it",
            "--version says which request you have seen, --yes takes the latest",
            "baton reviews show ID",
        )


CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/manual-reviews",
        "List what a rule has stopped.",
        query=(Param("state", "Only these.", choices=("open", "released", "closed")),),
        columns="id:ID source_agent:From target_agent:To reason:Reason rule:Rule count:Times state:State last_at:Age",
        is_paged=True,
    ),
    RequestCommand(
        "show",
        "GET",
        "/manual-reviews/{review_id}",
        "Show what was stopped, and why.",
        query=(Param("limit", "How many notes.", "number"), Param("cursor", "Further notes.")),
    ),
    RequestCommand(
        "release",
        "POST",
        "/manual-reviews/{review_id}/release",
        "Let it through.",
        body=(VERSION, *AGENT_VERSIONS, YES),
        refine=_names_what_was_read,
        said="{id} is released: {task.id} is {task.state}",
    ),
    RequestCommand(
        "close",
        "POST",
        "/manual-reviews/{review_id}/close",
        "Close it: nothing comes of it. --reason is for those who asked.",
        body=(replace(REASON, is_required=True), VERSION),
        said="{id} is {state}",
    ),
)

command = noun("reviews", "Look at what a rule has stopped, let it through, or close it.", CALLS)
