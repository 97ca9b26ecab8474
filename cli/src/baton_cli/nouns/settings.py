"""`baton settings`."""

from __future__ import annotations

from typing import Any

import click

from baton_cli import given
from baton_cli.app import App
from baton_cli.calls import Call
from baton_cli.exits import Misused
from baton_cli.leaf import Leaf
from baton_cli.table import noun, show
from baton_cli.wire import Request

CALLS = (Call("show", "GET", "/workspace/settings", "Show the workspace's settings."),)
SET = Call("set", "PUT", "/workspace/settings", "", body=(), said="saved, version {version}")


@click.command("set", cls=Leaf)
@click.argument("pairs", nargs=-1, metavar="NAME=VALUE…")
@click.option("--data", metavar="JSON", help="Further settings: JSON, @FILE, or -.")
@click.pass_obj
def change(app: App, pairs: tuple[str, ...], data: str | None) -> None:
    """Change settings, such as: max_attempts=5 time_zone=Europe/Berlin guardrails.secrets=mask."""
    body = given.document(data) if data else {}
    for each in pairs:
        _put(body, each)
    if not body:
        raise click.UsageError("Missing NAME=VALUE.")
    show(app, SET, app.client.call(Request("PUT", SET.path, body)))


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
        return given.document(said) if said not in {"", "-"} and not said.startswith("@") else said
    except Misused:
        return said


command = noun("settings", "See and change the workspace's settings.", [*CALLS, change])
