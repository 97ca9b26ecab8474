"""`baton tools`."""

from __future__ import annotations

from baton_cli.command_table import noun
from baton_cli.request_commands import Param, RequestCommand

DEFINITION = (
    Param("description", "What the model is told.", "long"),
    Param("config.target_agent", "Who gets the conversation or the work.", flag="to"),
    Param("config.mode", "What happens.", choices=("transfer", "delegate")),
    Param("config.handoff_instructions", "What the target is told.", "long", flag="instructions"),
    Param("config.history", "What it sees of the conversation.", choices=("full", "last_message", "none")),
    Param("active", "Whether models have it.", "either"),
    Param("needs_approval", "Who approves each call, as JSON: {} for any human. Null in --data ends that.", "json"),
    Param("version", "Refused if it has changed since.", "number"),
)

CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/tools",
        "List the handoff tools.",
        columns="name:Name config.target_agent:To config.mode:Mode active:On version:Version description:Description",
        is_paged=True,
    ),
    RequestCommand("show", "GET", "/tools/{name}", "Show a tool."),
    RequestCommand(
        "save",
        "PUT",
        "/tools/{name}",
        "Define a tool, or change it. --data takes context_variables.",
        body=(*DEFINITION, Param("target_version", "Refused if its target has changed since.", "number")),
        said="{name} is saved, version {version}",
    ),
    RequestCommand("schema", "GET", "/tools/{name}/schema", "Show a tool as a model sees it."),
    RequestCommand(
        "preview",
        "POST",
        "/tools/{name}/preview",
        "Show a tool as a model would see it, without saving it. --data takes context_variables.",
        body=DEFINITION,
    ),
    RequestCommand(
        "dry-run",
        "POST",
        "/tools/{name}/dry-run",
        "Try arguments, without effect.",
        body=(Param("arguments", "JSON, @FILE, or -.", "json"),),
    ),
)

command = noun("tools", "Define the tools by which models hand over.", CALLS)
