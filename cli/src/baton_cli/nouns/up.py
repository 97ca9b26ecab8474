"""`baton up`."""

from __future__ import annotations

import click

from baton_cli.agent_profiles import new_agent_profile
from baton_cli.base_command import BaseCommand
from baton_cli.checkout import LOCAL, checkout, save_profiles
from baton_cli.command_context import CommandContext
from baton_cli.failures import Failure
from baton_cli.profile_store import save
from baton_client.profiles import Profile, config_path


@click.command("up", cls=BaseCommand)
@click.option("--agent", metavar="SLUG", help="Register this agent too, and save a profile for it.")
@click.pass_obj
def command(app: CommandContext, agent: str | None) -> None:
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
    if agent:
        human = Profile(LOCAL, str(stack["api_url"]), stack["tokens"]["human"])
        names.append(f"{LOCAL}.{agent}")
        save(names[-1], new_agent_profile(app, human, agent), config_path(), is_default=False)
    if app.out.is_json:
        app.out.document({"url": stack["api_url"], "profile": LOCAL, "profiles": names})
    else:
        app.out.write(f"The stack is up at {stack['api_url']}.\nProfiles: {', '.join(names)}\n")
        work = f"--profile {names[-1]} worker -- ./run.sh" if agent else f"--profile {LOCAL} agents list"
        app.out.say(f"next: baton {work}")
