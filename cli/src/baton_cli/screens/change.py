"""The screens of a change of the workspace: its effect, and the person who acts next."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen
from baton_cli.screens import plain
from baton_cli.text import one_line

Change = dict[str, Any]
ASKS = {"pending": "asks to", "approved": "asks to"}


def whole(screen: Screen, change: Change) -> None:
    """Draws the change with its action, fields and next step."""
    screen.title(action(change))
    plain.fields(screen, change)
    _next(screen, change)


def decided(screen: Screen, change: Change) -> None:
    """Draws the state of a change after a decision."""
    screen.line(f"{change['id']} is {change['state']}")
    _next(screen, change)


def action(change: Change) -> str:
    """Returns the change as a sentence, such as ``human:ann revokes the token 01m7 of human:ben``."""
    verb, what = _deed(change)
    asks = ASKS.get(change["state"], "asked to")
    said = f"{verb}s" if change["state"] == "applied" else f"{asks} {verb}"
    return one_line(f"{change['by']} {said} {what}")


def _deed(change: Change) -> tuple[str, str]:
    names, before, after = ", ".join(change["names"]), change["before"], change["after"]
    match change["subject"]:
        case "settings":
            return "change", f"the settings {names}"
        case "approvals":
            return "end", f"the approvals of {names}"
        case "tokens" if before is None:
            return "issue", f"a token to {names}"
        case "tokens":
            return "revoke", f"the token {before['id']} of {names}"
    verb = "add" if before is None else "remove" if after is None else "change"
    return verb, f"the {change['subject'].removesuffix('s')} {names}"


def _next(screen: Screen, change: Change) -> None:
    if change["state"] == "pending":
        screen.line("Another administrator approves it:")
        screen.unwrapped(f"baton changes approve {change['id']} --digest {change['digest']}", indent=2)
    elif change["state"] == "approved":
        until = screen.when(change["expires_at"])
        screen.line(
            one_line(f"Nothing is applied before {change['by']} repeats the request. The approval ends {until}:")
        )
        screen.unwrapped(one_line(_repeat(change)), indent=2)


def _repeat(change: Change) -> str:
    """Returns the command that repeats the approved request for a token."""
    token = change["after"]
    implied = {"act_as"} if token["right"] == "administrator" else set()
    scopes = ",".join(each for each in token["scopes"] if each not in implied)
    options = {"right": token["right"], "scope": scopes, "expires": token["expires_at"], "change": change["id"]}
    given = "".join(f" --{name} {value}" for name, value in options.items() if value)
    return f"baton tokens create --kind {token['kind']} --for {token['subject']}{given}"
