"""`baton init`: from an address and a token to a profile that works, and to an agent."""

from __future__ import annotations

import os
from pathlib import Path

import click

from baton_cli import given
from baton_cli.app import App
from baton_cli.exits import Misused, Refused
from baton_cli.hiring import hired
from baton_cli.leaf import Leaf
from baton_cli.output import may_ask
from baton_cli.profiles import Profile, address, config_path, save

URL_QUESTION = "The API's address, such as https://baton.example.com"


@click.command("init", cls=Leaf)
@click.option("--name", default="default", show_default=True, help="The profile's name.")
@click.option("--token-file", metavar="FILE", help="The file that has the token; - is standard input.")
@click.option("--agent", metavar="SLUG", help="Register this agent too, and save a profile for it.")
@click.pass_obj
def command(app: App, name: str, token_file: str | None, agent: str | None) -> None:
    """Save an API's address and token as a profile, and try them.

    The address is --url, $BATON_URL, or is asked for; the token is --token-file, $BATON_TOKEN, or is asked for, and
    never stands on the command line. A profile NAME.SLUG is made for an agent, with a token of its own, for which
    yours has to be a human's. For the local stack: baton up.
    """
    profile = Profile(name, address(app.given.get("url") or os.environ.get("BATON_URL") or _asked(URL_QUESTION)), "")
    profile = Profile(name, profile.url, _token(token_file))
    _try(app, profile)
    path = config_path()
    save(name, profile, path, is_default=True)
    names = [name]
    if agent:
        save(f"{name}.{agent}", hired(profile, agent, app.key), path, is_default=False)
        names.append(f"{name}.{agent}")
    _tell(app, path, names, agent)


def _asked(question: str, *, is_secret: bool = False) -> str:
    if not may_ask():
        raise Misused("something is missing, and nobody is here to be asked", question, "baton init --help")
    answer: str = click.prompt(question, hide_input=is_secret, err=True)
    return answer.strip()


def _token(file: str | None) -> str:
    found = given.text(file if file == "-" else f"@{file}") if file else os.environ.get("BATON_TOKEN", "")
    return found.strip() or _asked("Your token (it isn't shown)", is_secret=True)


def _try(app: App, profile: Profile) -> None:
    """Raises ``Refused`` or ``Unreachable``: a profile that doesn't work isn't saved."""
    client = app.client_for(profile)
    try:
        client.get("/healthz")
        client.get("/workspace/settings")
    except Refused as refusal:
        if refusal.code in {"token_refused", "not_authenticated"} or refusal.status not in {401, 403}:
            raise
    finally:
        client.close()


def _tell(app: App, path: Path, names: list[str], agent: str | None) -> None:
    if app.out.is_json:
        app.out.document({"file": str(path), "profiles": names})
        return
    app.out.write(f"✓ {path} has {' and '.join(names)}\n")
    app.out.say(
        "next: baton handoff list" if agent is None else f"next: baton --profile {names[-1]} tasks claim --wait 60"
    )
