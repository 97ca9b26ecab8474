"""`baton console`: the console in a browser, signed in."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Any

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_client.core import Request


@click.command("console", cls=BaseCommand)
@click.option("--print", "is_printed", is_flag=True, help="Print the link, and open nothing.")
@click.pass_obj
def command(app: CommandContext, is_printed: bool) -> None:
    """Open the console in a browser, signed in as you.

    The link has a code that works once, within a minute; it isn't your token. A human's token is needed.
    """
    made = app.client.call(Request[Any]("POST", "/session-codes", {}))
    link = f"{app.profile.url}/console/#code={made['code']}"
    if app.out.is_json:
        app.out.document({**made, "url": link})
    elif is_printed or not _has_browser() or not webbrowser.open(link):
        app.out.write(f"{link}\n")
        app.out.say("It works once, within a minute.")
    else:
        app.out.write("The console is open in your browser.\n")


def _has_browser() -> bool:
    """True if there is a browser with a window: one of the terminal's own would take the terminal over."""
    has_screen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_screen or not sys.platform.startswith("linux")
