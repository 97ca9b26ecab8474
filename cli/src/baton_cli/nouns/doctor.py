"""`baton doctor`: checks what a command needs, one thing after the other."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import click

from baton_cli import VERSION, times
from baton_cli.base_command import BaseCommand
from baton_cli.checkout import checkout
from baton_cli.command_context import CommandContext
from baton_cli.failures import ExitCode, next_step_of
from baton_cli.own_person import own_person
from baton_client.core import Answer, body_of
from baton_client.errors import BatonError, Misused, NoAnswer, Refused
from baton_client.profiles import config_of, config_path

if TYPE_CHECKING:
    from baton_cli.screen import Screen

MOST_SKEW_SECONDS = 30
TRY_SECONDS = 10.0
MARKS = {"ok": ("✓", "green"), "note": ("-", "yellow"), "wrong": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``state``: ok, wrong, or a note that is no fault."""

    about: str
    state: str
    said: str
    next_step: str = ""


@click.command("doctor", cls=BaseCommand)
@click.pass_context
def command(context: click.Context) -> None:
    """Try everything that a command needs, and say what is wrong.

    The exit code is 1 if anything is.
    """
    app = context.ensure_object(CommandContext)
    checks = list(checked(app))
    is_well = all(each.state != "wrong" for each in checks)

    def draw(screen: Screen) -> None:
        for each in checks:
            mark, style = MARKS[each.state]
            screen.marked(mark, f"{each.about}: {each.said}", style)
            if each.next_step:
                screen.unwrapped(f"next: {each.next_step}", "dim", indent=2)

    app.out.show({"ok": is_well, "checks": [asdict(each) for each in checks]}, draw)
    context.exit(ExitCode.OK if is_well else ExitCode.FAILED)


def checked(app: CommandContext) -> Iterator[Check]:
    yield Check("baton", "ok", f"{VERSION}, Python {platform.python_version()}")
    yield _file()
    try:
        profile = app.profile
    except Misused as misuse:
        yield _wrong("profile", misuse)
    else:
        token = "with a token" if profile.token else "without a token"
        yield Check(
            "profile",
            "ok" if profile.token else "wrong",
            f"{profile.name or 'of the environment'}, {profile.url}, {token}",
        )
        yield from _api(app)
    yield _stack()
    yield _program("baton-mcp", "baton mcp needs it: make install, in Baton's checkout")


def _file() -> Check:
    try:
        path = config_path()
        names = list(config_of(path).profiles)
    except Misused as misuse:
        return _wrong("file", misuse)
    if not names:
        return Check("file", "note", f"{path} has no profiles", "baton init, or baton up")
    return Check("file", "ok", f"{path} has {', '.join(names)}")


def _api(app: CommandContext) -> Iterator[Check]:
    begun = time.monotonic()
    try:
        reply = app.client.request("GET", "/healthz", timeout=TRY_SECONDS)
    except NoAnswer as failure:
        yield replace(_wrong("API", failure), next_step=_where_to(app.profile.url))
        return
    except BatonError as failure:
        yield _wrong("API", failure)
        return
    if reply.status != 200:
        yield Check("API", "wrong", f"/healthz is answered with {reply.status}: is it Baton's address?")
        return
    yield Check("API", "ok", f"answers within {(time.monotonic() - begun) * 1_000:.0f} ms")
    yield from _clock(app, reply)
    yield from _token(app)


def _where_to(url: str) -> str:
    """Returns the next step if the API doesn't answer."""
    try:
        stack = checkout().stack()
    except Misused:
        stack = None
    if stack is not None and stack["api_url"] == url:
        return "baton up"
    return "check the address: --url, $BATON_URL, or the profile's url"


def _clock(app: CommandContext, reply: Answer) -> Iterator[Check]:
    if "date" in reply.headers:
        skew = abs((app.clock() - parsedate_to_datetime(reply.headers["date"])).total_seconds())
        if skew > MOST_SKEW_SECONDS:
            yield Check(
                "clock", "wrong", f"it differs from the API's by {times.length(skew)}", "set this machine's clock"
            )
        else:
            yield Check("clock", "ok", "agrees with the API's")


def _token(app: CommandContext) -> Iterator[Check]:
    try:
        settings = body_of(app.client.request("GET", "/workspace/settings", timeout=TRY_SECONDS))
        person = own_person(app)
    except Refused as refusal:
        is_known = refusal.status == 403 and refusal.code != "token_refused"
        yield Check("token", "ok", "is accepted") if is_known else _wrong("token", refusal)
    except BatonError as failure:
        yield _wrong("token", failure)
    else:
        whose = f": {person['id']}, right {person['right']}" if person else ""
        yield Check("token", "ok", f"is accepted{whose}; settings version {settings['version']}")


def _stack() -> Check:
    try:
        found = checkout()
    except Misused:
        return Check("local stack", "note", "no checkout of Baton is here")
    if found.stack() is None:
        return Check("local stack", "note", f"none was started in {found.root}", "baton up")
    return Check("local stack", "ok", f"in {found.root}")


def _program(name: str, said: str) -> Check:
    return Check(name, "ok", "is installed") if shutil.which(name) else Check(name, "note", said)


def _wrong(about: str, failure: BatonError) -> Check:
    why = f" ({' '.join(failure.why.split())})" if failure.why else ""
    return Check(about, "wrong", f"{failure.what}{why}", next_step_of(failure))
