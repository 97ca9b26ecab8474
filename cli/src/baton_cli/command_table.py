"""Makes a command of each row: it parses the arguments and options, sends the request, and shows the answer."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from baton_cli import typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.lazy import Nouns
from baton_cli.request_commands import Param, RequestCommand
from baton_client.errors import Misused

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton_cli.screen import Screen
    from baton_client.caller import Caller

USUAL_LIMIT, MOST_LOOKS = 25, 8
PENDING = "{id} waits for another administrator: baton changes approve {id} --digest {digest}"
METAVARS = {"slug": "AGENT", "name": "NAME", "work_type": "TYPE", "person": "NAME"}
_PAGE = (
    Param("limit", "How many, 25 if not given, at most 100.", "number"),
    Param("cursor", "Goes on where a listing has ended."),
)


def noun(name: str, help_: str, verbs: Iterable[RequestCommand | click.Command]) -> Nouns:
    """Returns the group of a noun: a command for each row, and the commands that are written by hand."""
    group = Nouns(name, help=help_, no_args_is_help=True)
    for each in verbs:
        group.add_command(command_of(each) if isinstance(each, RequestCommand) else each)
    return group


def command_of(call: RequestCommand) -> BaseCommand:
    params: list[click.Parameter] = [_argument(each) for each in path_params(call)]
    params += [_parameter(each) for each in (*call.query, *(call.body or ()))]
    if call.is_paged:
        params += [_parameter(each) for each in _PAGE]
        params.append(click.Option(["--all", "all_pages"], is_flag=True, help="Every page, as one list."))
    if call.body:
        params.append(click.Option(["--data"], metavar="JSON", help="The body's other fields: JSON, @FILE, or -."))
    return BaseCommand(
        call.verb,
        params=params,
        callback=partial(run, call),
        help=call.help,
        takes_key=call.has_key_option,
        states=call.states,
    )


def path_params(call: RequestCommand) -> list[Param]:
    known = {each.name: each for each in call.paths}
    names = re.findall(r"\{(\w+)\}", call.path)
    return [
        known.get(each, Param(each, kind="agent" if each == "slug" else "text", is_argument=True)) for each in names
    ]


def run(call: RequestCommand, /, **values: Any) -> None:
    """Sends the row's request with what was typed, and shows the answer."""
    app = click.get_current_context().ensure_object(CommandContext)
    show(app, call, answer_of(app, call, typed_request(call, values, app), is_whole=bool(values.get("all_pages"))))


@dataclass(frozen=True, slots=True)
class TypedRequest:
    """A request, made of what was typed."""

    path: str
    query: dict[str, Any]
    body: Any = None


def typed_request(call: RequestCommand, values: dict[str, Any], app: CommandContext) -> TypedRequest:
    typed = {each.name: _typed(each, values.get(each.key), app) for each in _all(call)}
    path = call.path.format(**{each.name: quote(str(typed[each.name]), safe="") for each in path_params(call)})
    query = {each.name: typed[each.name] for each in (*call.query, *(_PAGE if call.is_paged else ()))}
    refine = call.refine or (lambda _asked: None)
    if call.body is None:
        refine(query)
        _must_have(call.query, query)
        return TypedRequest(path, query)
    body = _seen(call, typed, app) | _body(call, values, typed)
    refine(body)
    _must_have(call.body, body)
    return TypedRequest(path, query, body)


def _seen(call: RequestCommand, typed: dict[str, Any], app: CommandContext) -> dict[str, Any]:
    """Returns the revision and digest of the task that was shown last, for a decision on ``@last``."""
    if "last" not in app.flags or "digest" not in {each.name for each in call.body or ()}:
        return {}
    from baton_cli import last_ids

    return last_ids.seen(typed["task_id"])


def _body(call: RequestCommand, values: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """Returns the body. What was typed takes the place of the same field of ``--data``, and that of the profile's
    agent."""
    body = typed_values.document(values["data"]) if values.get("data") else {}
    if not isinstance(body, dict):
        raise Misused("the body isn't an object", 'it is as {"field": 1}')
    for each in call.body or ():
        names = each.name.split(".")
        is_usual = each.kind == "agent" and values.get(each.key) is None and _found(body, names) is not None
        if (value := typed[each.name]) not in (None, []) and not is_usual:
            _put(body, names, value)
    return body


def answer_of(app: CommandContext, call: RequestCommand, asked: TypedRequest, *, is_whole: bool = False) -> Any:
    """Returns the answer to the request. ``is_whole``: all pages of a list, as one page."""
    from baton_client.core import Request, with_query

    if is_whole:
        query = {name: value for name, value in asked.query.items() if value is not None}
        return _joined(list(app.client.pages(asked.path, {"limit": 100, **query})))
    if call.is_paged:
        return _filled(app.client, asked)
    key = app.key if call.takes_key else None
    request = Request[Any](call.method, with_query(asked.path, asked.query), asked.body, key)
    return app.client.call(request, repeatable=call.is_repeatable)


def _filled(client: Caller, asked: TypedRequest) -> Any:
    """Returns as many items as were asked for, of several pages if needed: a page may have fewer items than its
    limit."""
    query, pages = dict(asked.query), list[Any]()
    left = query.get("limit") or USUAL_LIMIT
    while True:
        pages.append(client.get(asked.path, query))
        left -= len(pages[-1]["items"])
        if left <= 0 or pages[-1]["next_cursor"] is None or len(pages) == MOST_LOOKS:
            return _joined(pages)
        query |= {"cursor": pages[-1]["next_cursor"], "limit": left}


def show(app: CommandContext, call: RequestCommand, answer: Any) -> None:
    if answer is None:
        if not app.out.is_json:
            app.out.write(f"{call.said or 'done'}\n")
        return
    app.out.show(answer, drawing_of(call, answer))
    if call.is_paged and answer.get("next_cursor"):
        upto = f"Searched to {answer['searched_to']}. " if "searched_to" in answer else ""
        app.out.say(f"{upto}There is more: --all, or --cursor {answer['next_cursor']}")


def drawing_of(call: RequestCommand, answer: Any) -> Callable[[Screen], None]:
    """Returns the function that draws the row's answer."""
    from baton_cli.screens import plain

    if _is_pending(call, answer):
        return lambda screen: plain.sentence(screen, PENDING, answer)
    if call.screen:
        module, _, name = call.screen.partition(":")
        draw: Callable[[Screen, Any], None] = getattr(importlib.import_module(f"baton_cli.screens.{module}"), name)
        return lambda screen: draw(screen, answer)
    if call.columns:
        return lambda screen: plain.table(screen, call.columns, answer["items"])
    if call.said:
        return lambda screen: plain.sentence(screen, call.said, answer)
    return lambda screen: plain.fields(screen, answer)


def _is_pending(call: RequestCommand, answer: Any) -> bool:
    """True if a request for something else is answered with a change that waits for another administrator."""
    return "/changes" not in call.path and isinstance(answer, dict) and answer.get("state") == "pending"


def _all(call: RequestCommand) -> list[Param]:
    return [*path_params(call), *call.query, *(call.body or ()), *(_PAGE if call.is_paged else ())]


def _must_have(params: Iterable[Param], body: dict[str, Any]) -> None:
    """Raises for a required value that neither the command line nor ``--data`` has."""
    for each in params:
        if each.is_required and _found(body, each.name.split(".")) is None:
            raise click.UsageError(f"Missing {each.key.upper() if each.is_argument else each.option}.")


def _found(body: Any, names: list[str]) -> Any:
    for each in names:
        body = body.get(each) if isinstance(body, dict) else None
    return body


def _put(body: dict[str, Any], names: list[str], value: Any) -> None:
    for each in names[:-1]:
        body = body.setdefault(each, {})
    body[names[-1]] = value


def _joined(pages: list[Any]) -> Any:
    return {**pages[-1], "items": [each for page in pages for each in page["items"]]}


def _typed(param: Param, value: Any, app: CommandContext) -> Any:
    """Returns a value in the form that the API takes; None if nothing was typed."""
    if param.kind == "agent" and not value:
        value = app.profile.agent
        if not value and param.is_argument:
            raise click.UsageError("Missing AGENT: the profile is no agent's.")
        return value or None
    if value is None or param.kind in {"number", "seconds", "either", "text", "claim", "agent"}:
        return value
    return _CONVERTED[param.kind](value, app)


_CONVERTED: dict[str, Callable[[Any, CommandContext], Any]] = {
    "long": lambda value, _app: typed_values.text(value),
    "yes": lambda value, _app: value or None,
    "list": lambda value, _app: list(value),
    "words": lambda value, _app: [part.strip() for each in value for part in each.split(",") if part.strip()],
    "json": lambda value, _app: typed_values.document(value),
    "past": lambda value, app: typed_values.time(value, now=app.clock(), is_past=True),
    "future": lambda value, app: typed_values.time(value, now=app.clock(), is_past=False),
}


def _argument(param: Param) -> click.Argument:
    metavar = METAVARS.get(param.name, param.name.removesuffix("_id").upper())
    is_required = param.kind != "agent" and param.is_required is not None
    return click.Argument([param.key], metavar=metavar if is_required else f"[{metavar}]", required=is_required)


def _parameter(param: Param) -> click.Parameter:
    if param.is_argument:
        return click.Argument([param.key], metavar=f"[{param.name.upper()}]", required=False)
    names = [param.option, param.key]
    if param.kind == "either":
        return click.Option([f"{param.option}/--no-{param.option[2:]}", param.key], default=None, help=param.help)
    if param.kind == "yes":
        return click.Option(names, is_flag=True, default=None, help=param.help)
    options: dict[str, Any] = {"help": param.help, "metavar": _metavar(param)}
    if param.choices:
        options = {"help": param.help, "type": click.Choice(param.choices)}
    elif param.kind in {"number", "seconds"}:
        options["type"] = int if param.kind == "number" else float
    if param.kind == "claim":
        options["envvar"] = "BATON_CLAIM_ID"
    return click.Option(names, multiple=param.kind in {"list", "words"}, **options)


def _metavar(param: Param) -> str:
    names = {
        "list": "TEXT …",
        "words": "TEXT …",
        "number": "N",
        "seconds": "SECONDS",
        "past": "TIME",
        "future": "TIME",
        "json": "JSON",
        "agent": "AGENT",
    }
    return names.get(param.kind, "TEXT")
