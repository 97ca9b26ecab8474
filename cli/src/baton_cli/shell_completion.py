"""Completion in the shell: profiles, agents, tasks and states, beside the commands and options. If anything fails,
nothing is completed, and nothing is printed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from baton_cli.command_context import CommandContext

Completes = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
LAST = "@last"
PATIENCE_SECONDS = 2.0


def profiles(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baton_client.errors import BatonError
    from baton_client.profiles import config_of, config_path

    try:
        found = config_of(config_path()).profiles
    except BatonError:
        return []
    return [CompletionItem(name, help=each.get("url")) for name, each in found.items() if name.startswith(incomplete)]


def agents(context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    items = _items(context, "/agents?limit=100")
    return [_item(each["slug"], each["name"]) for each in items if each["slug"].startswith(incomplete)]


def tasks(context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Returns the tasks in a state that the command takes."""
    states = getattr(context.command, "states", "")
    items = _items(context, f"/tasks?limit=100{f'&state={states}' if states else ''}")
    found = [_item(each["id"], each["title"]) for each in items if each["id"].startswith(incomplete)]
    return found + _last(incomplete)


def handoffs(context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    items = _items(context, "/handoffs?limit=100")
    found = [_item(each["handoff_id"], each["title"]) for each in items if each["handoff_id"].startswith(incomplete)]
    return found + _last(incomplete)


def states(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the last one of several states with commas."""
    from baton_cli.request_commands import STATES

    before, comma, begun = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{each}") for each in STATES if each.startswith(begun)]


def _last(incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(LAST, help="the last one here")] if LAST.startswith(incomplete) else []


def _items(context: click.Context, path: str) -> list[dict[str, Any]]:
    """Returns the first page of a list, if it is answered soon."""
    from baton_cli.command_context import CommandContext
    from baton_client.caller import Caller
    from baton_client.errors import BatonError

    app: CommandContext = context.ensure_object(CommandContext)
    try:
        client = Caller(app.profile)
        try:
            reply = client.request("GET", path, timeout=PATIENCE_SECONDS)
        finally:
            client.close()
    except BatonError:
        return []
    return reply.json["items"] if reply.status == 200 and isinstance(reply.json, dict) else []


def _item(name: str, about: str) -> CompletionItem:
    from baton_cli.text import one_line

    return CompletionItem(name, help=one_line(about))


# A parameter's name → what completes its values.
_BY_NAME: dict[str, Completes] = {
    **dict.fromkeys(("slug", "agent", "target_agent", "source_agent", "target__agent", "source__agent"), agents),
    **dict.fromkeys(("target", "source", "rollback__on_failure", "rollback_request__target_agent"), agents),
    "config__target_agent": agents,
    **dict.fromkeys(("task", "task_id", "tasks"), tasks),
    **dict.fromkeys(("handoff", "handoff_id"), handoffs),
    "state": states,
    "common_profile": profiles,
}


def _completed(by: Completes, param: click.Parameter, context: click.Context, incomplete: str) -> list[CompletionItem]:
    try:
        return by(context, param, incomplete)
    except (KeyError, TypeError, AttributeError):  # items of another shape
        return []


def completed(parameters: list[click.Parameter]) -> list[click.Parameter]:
    """Returns the parameters, of which each with a name of the table completes its values."""
    for each in parameters:
        found = _BY_NAME.get(each.name or "")
        if found is not None and not isinstance(each.type, click.Choice):
            vars(each)["shell_complete"] = partial(_completed, found, each)
    return parameters
