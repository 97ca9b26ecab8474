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
from baton_client.errors import Misused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

CALLS = (
    RequestCommand("show", "GET", "/workspace/settings", "Show the workspace's settings."),
    RequestCommand(
        "version", "GET", "/workspace/settings/versions/{version}", "Show an earlier version of the settings."
    ),
)
SET = RequestCommand("set", "PUT", "/workspace/settings", "", body=(), said="saved, version {version}")


@click.command("set", cls=BaseCommand)
@click.argument("pairs", nargs=-1, metavar="NAME=VALUE…")
@click.option("--data", metavar="JSON", help="Further settings: JSON, @FILE, or -.")
@click.pass_obj
def change(app: CommandContext, pairs: tuple[str, ...], data: str | None) -> None:
    """Change settings, such as: max_attempts=5 time_zone=Europe/Berlin guardrails.secrets=mask."""
    body = typed_values.document(data) if data else {}
    for each in pairs:
        _put(body, each)
    if not body:
        raise click.UsageError("Missing NAME=VALUE.")
    saved = app.client.call(Request[Any]("PUT", SET.path, body))
    app.out.show(saved, lambda screen: _draw(screen, saved))


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
