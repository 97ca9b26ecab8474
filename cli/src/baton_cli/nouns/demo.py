"""`baton demo`."""

from __future__ import annotations

import os
import sys

import click

from baton_cli.base_command import BaseCommand
from baton_cli.checkout import checkout


@click.command("demo", cls=BaseCommand)
def command() -> None:
    """Start the local stack, and play the main job on it.

    Ctrl-C ends it.
    """
    root = checkout().root
    sys.stdout.flush()
    os.execvp("make", ["make", "--no-print-directory", "-C", str(root), "run"])  # noqa: S606, S607 - make is what the checkout needs anyway
