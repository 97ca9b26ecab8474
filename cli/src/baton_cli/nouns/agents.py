"""`baton agents`."""

from __future__ import annotations

from typing import Any

from baton_cli.command_table import noun
from baton_cli.request_commands import SLUG, Param, RequestCommand

SAVED = "{slug} is saved, version {version}"


def _on(body: dict[str, Any]) -> None:
    body["active"] = True


def _off(body: dict[str, Any]) -> None:
    body["active"] = False


def _named(body: dict[str, Any]) -> None:
    """What `agents import --data capabilities.json` takes is a file as it is, with ``agents`` around it or without."""
    if "agents" not in body:
        named = dict(body)
        body.clear()
        body["agents"] = named


CALLS = (
    RequestCommand(
        "list",
        "GET",
        "/agents",
        "List the agents; with types of work, the best first.",
        query=(
            Param("accepts", "What it has to take, several with commas.", "words"),
            Param("produces", "What it has to make.", "words"),
        ),
        screen="agents:listed",
        is_paged=True,
    ),
    RequestCommand("show", "GET", "/agents/{slug}", "Show an agent.", screen="agents:shown"),
    RequestCommand(
        "save",
        "PUT",
        "/agents/{slug}",
        "Register an agent, or change it. What isn't named stays as it is.",
        body=(
            Param("name", "Its name."),
            Param("description", "What it is for.", "long"),
            Param("aliases", "Another name of it.", "list", flag="alias"),
            Param("accepts", "What it takes, several with commas.", "words"),
            Param("produces", "What it makes, several with commas.", "words"),
            Param("runtime", "pull: it polls for its work; run: Baton runs it.", choices=("pull", "run")),
            Param("approval", "auto: handoffs to it need no approval each.", choices=("manual", "auto")),
            Param("requeue", "Where lost work goes.", choices=("same", "needs")),
            Param("max_concurrent", "How many tasks at once.", "number"),
            Param("root_handoffs_per_hour", "How many workflows it may begin in one direction in an hour.", "number"),
            Param("system_prompt", "What its model is told.", "long"),
            Param("model", "Its model."),
            Param("tools", "Its tools, several with commas.", "words"),
            Param("version", "Refused if it has changed since.", "number"),
        ),
        said=SAVED,
    ),
    RequestCommand("on", "PUT", "/agents/{slug}", "Switch an agent on.", body=(), refine=_on, said="{slug} is on"),
    RequestCommand(
        "off",
        "PUT",
        "/agents/{slug}",
        "Switch an agent off: the kill switch.",
        body=(),
        refine=_off,
        said="{slug} is off",
    ),
    RequestCommand(
        "import",
        "POST",
        "/agents/import",
        "Register the agents of a file: --data @capabilities.json.",
        body=(Param("agents", "By slug: JSON, @FILE, or -.", "json", is_required=True),),
        refine=_named,
        columns="slug:Agent status:Status version:Version",
    ),
    RequestCommand(
        "pending",
        "GET",
        "/agents/{slug}/pending",
        "List what waits for an agent.",
        columns="id:ID source_agent:From priority:P state:State created_at:Age title:Title",
        is_paged=True,
    ),
    RequestCommand(
        "held",
        "GET",
        "/agents/{slug}/claims",
        "List what an agent holds: its workers' live claims.",
        columns="id:ID claim.worker:Worker claim.claimed_at:Since claim.expires_at:Until claim.fence:Fence title:Title",
        is_paged=True,
    ),
    RequestCommand(
        "inbox",
        "GET",
        "/agents/{slug}/inbox",
        "List what an agent is told about work that it handed off.",
        columns="id:ID at:At type:What agent:Agent state:State title:Title",
        is_paged=True,
    ),
    RequestCommand(
        "ack",
        "POST",
        "/agents/{slug}/inbox/ack",
        "Take entries out of the inbox.",
        paths=(SLUG,),
        body=(Param("ids", "An entry, several with commas.", "words", flag="id", is_required=True),),
        said="{acknowledged} taken out",
    ),
)

command = noun("agents", "Register agents, and see who is there.", CALLS)
