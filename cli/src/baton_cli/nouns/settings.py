"""`baton settings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli import typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.command_table import drawing_of, noun
from baton_cli.request_commands import RequestCommand
from baton_cli.text import one_line
from baton_client.core import Request
from baton_client.errors import Invalid, Misused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

CALLS = (
    RequestCommand("show", "GET", "/workspace/settings", "Show the workspace's settings."),
    RequestCommand(
        "version", "GET", "/workspace/settings/versions/{version}", "Show an earlier version of the settings."
    ),
)
SET = RequestCommand("set", "PUT", "/workspace/settings", "", body=(), said="saved, version {version}")

# Those of docs/openapi.json.
NAMES = (
    "agents_read", "approval_rules", "breaker_scope", "cents_per_million_tokens", "dispatch_delay_seconds",
    "escalation_cap", "groups", "guardrails", "handoff_window_days", "holidays", "kept_bytes_per_claim",
    "kept_bytes_per_minute", "listeners_per_principal", "loop_guard", "max_attempts", "max_depth",
    "max_handoffs_per_workflow", "max_same_direction", "ping_pong_window", "polls_at_once",
    "requests_per_minute", "root_handoffs_per_hour", "time_zone", "tracker", "unclaimed_alert_seconds",
    "waiting_alert_seconds",
)  # fmt: skip
THERE_ARE = f"The settings: {', '.join(NAMES)}."
HELP = f"""Change settings, such as: max_attempts=5 time_zone=Europe/Berlin guardrails.secrets=mask.

{THERE_ARE}"""


@click.command("set", cls=BaseCommand, help=HELP)
@click.argument("pairs", nargs=-1, metavar="NAME=VALUE…")
@click.option("--data", metavar="JSON", help="Further settings: JSON, @FILE, or -.")
@click.pass_obj
def change(app: CommandContext, pairs: tuple[str, ...], data: str | None) -> None:
    body = typed_values.document(data) if data else {}
    for each in pairs:
        _put(body, each)
    if not body:
        raise click.UsageError(f"Missing NAME=VALUE. {THERE_ARE}")
    try:
        saved = app.client.call(Request[Any]("PUT", SET.path, body))
    except Invalid as refusal:
        refusal.next_step = _names_for(refusal)
        raise
    app.out.show(saved, lambda screen: _draw(screen, saved))


def _names_for(refusal: Invalid) -> str:
    """Returns the names of the settings if the refusal is about an unknown one, else ""."""
    from difflib import get_close_matches

    unknown = [name for each in refusal.errors if (name := str(each.get("field")).partition(".")[0]) not in NAMES]
    if not unknown:
        return ""
    close = get_close_matches(unknown[0], NAMES, n=1)
    return " ".join([*(f"did you mean {each}?" for each in close), THERE_ARE])


def _draw(screen: Screen, saved: dict[str, Any]) -> None:
    drawing_of(SET, saved)(screen)
    for each in saved.get("warnings", ()):
        screen.line(one_line(f"warning: {each}"), "yellow")


def _put(body: dict[str, Any], pair: str) -> None:
    name, equals, said = pair.partition("=")
    if not equals:
        raise Misused(f"{pair} sets nothing", "it is as max_attempts=5")
    *outer, last = name.split(".")
    for each in outer:
        body = body.setdefault(each, {})
    body[last] = _value(said)


def _value(said: str) -> Any:
    """JSON where it is JSON, such as 5, true or [1], else a text."""
    try:
        return typed_values.document(said) if said not in {"", "-"} and not said.startswith("@") else said
    except Misused:
        return said


command = noun("settings", "See and change the workspace's settings.", [*CALLS, change])
