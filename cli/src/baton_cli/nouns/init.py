"""`baton init`: saves a profile of an address and a token, and one for an agent."""

from __future__ import annotations

import os
from pathlib import Path

import click

from baton_cli import typed_values
from baton_cli.agent_profiles import new_agent_profile
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.output import may_ask
from baton_cli.profile_store import check, save
from baton_client.core import Patience
from baton_client.errors import Misused, Refused
from baton_client.profiles import Profile, address, config_of, config_path, profile_from

OF_CLAUDE_CODE = "claude plugin marketplace add CHECKOUT && claude plugin install baton@baton"
TRY_SECONDS = 10.0
URL_QUESTION = "The API's address, such as https://baton.example.com"


@click.command("init", cls=BaseCommand)
@click.option("--name", help="The profile's name; default if not given.")
@click.option("--token-file", metavar="FILE", help="The file that has the token; - is standard input.")
@click.option("--agent", metavar="SLUG", help="Register this agent too, and save a profile for it.")
@click.pass_obj
def command(app: CommandContext, name: str | None, token_file: str | None, agent: str | None) -> None:
    """Save an API's address and token as a profile, and try them.

    The address is --url, $BATON_URL, or is asked for; the token is --token-file, $BATON_TOKEN, or is asked for, and
    never stands on the command line. The new profile becomes the default. A profile NAME.SLUG is made for an agent,
    with its own token. Your token has to be a human's for that: beside a saved profile of yours, --agent alone is
    enough. For the local stack: baton up.
    """
    path = config_path()
    profile = _saved(app, path) if agent and not (name or token_file or os.environ.get("BATON_TOKEN")) else None
    if profile is None:
        url = address(app.flags.get("url") or os.environ.get("BATON_URL") or _asked(URL_QUESTION))
        profile = Profile(name or "default", url, _token(token_file))
        _try(app, profile)
        save(profile.name, profile, path, is_default=True)
    names = [profile.name]
    if agent:
        check(path)
        names.append(f"{profile.name}.{agent}")
        save(names[-1], new_agent_profile(app, profile, agent), path, is_default=False)
    _tell(app, path, names, agent)


def _saved(app: CommandContext, path: Path) -> Profile | None:
    """Returns the person's profile in the file: the named one, the default, or one of the address."""
    if named := app.flags.get("profile"):
        return profile_from({"profile": named}, {}, path)
    config, url = config_of(path), app.flags.get("url") or os.environ.get("BATON_URL")
    for name in sorted(config.profiles, key=lambda each: each != config.default):
        found = config.profiles[name]
        is_there = not url or address(url) == found.get("url", "").rstrip("/")
        if found.get("token") and not found.get("agent") and is_there:
            return profile_from({"profile": name}, {}, path)
    return None


def _asked(question: str, *, is_secret: bool = False) -> str:
    if not may_ask():
        raise Misused("something is missing, and nobody is here to be asked", question, "baton init --help")
    answer: str = click.prompt(question, hide_input=is_secret, err=True)
    return answer.strip()


def _token(file: str | None) -> str:
    found = typed_values.text(file if file == "-" else f"@{file}") if file else os.environ.get("BATON_TOKEN", "")
    return found.strip() or _asked("Your token (it isn't shown)", is_secret=True)


def _try(app: CommandContext, profile: Profile) -> None:
    """Tries the profile before it is saved. Raises ``Refused`` or ``NoAnswer``."""
    client = app.client_for(profile, Patience(attempts=1, seconds=0))  # a wrong address is known soon
    try:
        client.get("/healthz", timeout=TRY_SECONDS)
        client.get("/workspace/settings", timeout=TRY_SECONDS)
    except Refused as refusal:
        if refusal.code in {"token_refused", "not_authenticated"} or refusal.status not in {401, 403}:
            raise
    finally:
        client.close()


def _tell(app: CommandContext, path: Path, names: list[str], agent: str | None) -> None:
    if app.out.is_json:
        app.out.document({"file": str(path), "profiles": names})
        return
    app.out.write(f"✓ {path} has {' and '.join(names)}\n")
    if agent is None:
        app.out.say("next: baton handoff list")
        return
    app.out.say(f"next: baton --profile {names[-1]} tasks claim --wait 60")
    app.out.say(f"or let Claude Code work as it, once: {OF_CLAUDE_CODE}")
    app.out.say(f"and then: BATON_PROFILE={names[-1]} claude")
