"""`baton down`."""

from __future__ import annotations

import click

from baton_cli.base_command import BaseCommand
from baton_cli.checkout import checkout


@click.command("down", cls=BaseCommand)
def command() -> None:
    """Stop the local stack; its state is kept."""
    checkout().make("stop")
