"""`baton down`."""

from __future__ import annotations

import click

from baton_cli.checkout import checkout
from baton_cli.leaf import Leaf


@click.command("down", cls=Leaf)
def command() -> None:
    """Stop the local stack; its state is kept."""
    checkout().make("stop")
