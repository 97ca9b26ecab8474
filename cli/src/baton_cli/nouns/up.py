"""`baton up`."""

from __future__ import annotations

import click

from baton_cli.app import App
from baton_cli.checkout import LOCAL, checkout, save_profiles
from baton_cli.exits import Failure
from baton_cli.leaf import Leaf
from baton_cli.profiles import config_path


@click.command("up", cls=Leaf)
@click.pass_obj
def command(app: App) -> None:
    """Start the local stack, and save its profiles.

    It is that of the checkout around this folder, or of $BATON_CHECKOUT. The profile local is its human's; local.NAME
    is an agent's.
    """
    found = checkout()
    found.make("stack")
    stack = found.stack()
    if stack is None:
        raise Failure("the stack has left no file", f"{found.root}/.baton/stack.json", "baton doctor")
    names = save_profiles(stack, config_path())
    if app.out.is_json:
        app.out.document({"url": stack["api_url"], "profile": LOCAL, "profiles": names})
    else:
        app.out.write(f"The stack is up at {stack['api_url']}.\nProfiles: {', '.join(names)}\n")
        app.out.say(f"next: baton --profile {LOCAL} agents list")
