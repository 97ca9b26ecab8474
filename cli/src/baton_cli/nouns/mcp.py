"""`baton mcp`: the stdio server of the Model Context Protocol, with the profile's API and token."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_client.errors import Misused

PROGRAM = "baton-mcp"


@click.command(
    "mcp", cls=BaseCommand, context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[serve|install CLIENT] [OPTIONS]")
@click.pass_obj
def command(app: CommandContext, arguments: tuple[str, ...]) -> None:
    """Serve a model's client over stdio, or name Baton in its configuration.

    It is the program baton-mcp, with the address, token and agent of the profile: serve [--tools
    worker|sender|usual|all] [--channel], or install claude|cursor|codex|vscode, which names a saved profile to the
    client.
    """
    profile = app.profile
    if arguments[:1] == ("install",) and profile.name:
        arguments = (*arguments, "--profile", profile.name)
    said = {"BATON_URL": profile.url, "BATON_TOKEN": profile.token, "BATON_AGENT": profile.agent}
    environment = {**os.environ, **{name: value for name, value in said.items() if value}}
    program = _program()
    sys.stdout.flush()
    os.execve(program, [program, *(arguments or ("serve",))], environment)  # noqa: S606 - no shell


def _program() -> str:
    """Beside this command, or on the path."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise Misused(f"{PROGRAM} isn't installed", "it is a package of its own", "make install, in Baton's checkout")
    return found
