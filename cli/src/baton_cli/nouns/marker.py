"""`baton marker`: an escalation."""

from __future__ import annotations

from baton_cli.command_table import command_of
from baton_cli.request_commands import Param, RequestCommand

CALLS = (
    RequestCommand(
        "marker",
        "POST",
        "/handoff-markers",
        "Ask another agent for help, and get the block to paste.",
        body=(
            Param(
                "source_agent", "Who asks; the profile's agent if not given.", "agent", flag="from", is_required=True
            ),
            Param("target_agent", "Who is asked.", flag="to", is_required=True),
            Param("escalation_reason", "What for.", "long", flag="reason", is_required=True),
            Param("source_digest_url", "The digest that it came up in.", flag="digest", is_required=True),
            Param("task_priority", "How urgent.", flag="priority", choices=("high", "medium", "low", "P0", "P1", "P2")),
            Param("create_task", "Whether a task is made.", "either", flag="task"),
            Param("client_relation_ids", "A client's page.", "list", flag="client"),
            Param("project_relation_ids", "A project's page.", "list", flag="project"),
            Param("scope", "What part of the work it is about."),
            Param("auto_snapshot", "Take along what the blackboard knows.", "yes", flag="snapshot"),
            Param("auto_memories", "So many entries that fit come with the claim.", "number", flag="memories"),
        ),
        screen="marker:made",
    ),
)
command = command_of(CALLS[0])
