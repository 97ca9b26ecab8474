"""The base class of every command: the options that all of them take, and how help lists them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from baton_cli.command_context import CommandContext
from baton_cli.failures import next_step_of
from baton_cli.shell_completion import LAST, completed, profiles
from baton_client.errors import BatonError, Misused


def _note(name: str, fixed: str | None = None) -> Any:
    """Returns a callback that notes what a flag says. Of several on the line the last one counts."""

    def noted(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            context.ensure_object(CommandContext).flags[name] = fixed or str(value)

    return noted


def _flag(name: str, into: str, says: str, help_: str) -> click.Option:
    return click.Option(
        [name, f"common_{name[2:]}"], is_flag=True, expose_value=False, callback=_note(into, says), help=help_
    )


def _query(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value and not context.resilient_parsing:
        from baton_cli import answer_query

        context.ensure_object(CommandContext).flags["query"] = answer_query.checked(value)


def common() -> list[click.Parameter]:
    return [
        _flag("--json", "output", "json", "One JSON document on standard output; so it is off a terminal."),
        _flag("--text", "output", "text", "The screen for people, also off a terminal."),
        click.Option(
            ["-o", "common_format"],
            type=click.Choice(["json", "text", "name"]),
            expose_value=False,
            callback=_note("output"),
            help="As --json or --text; name prints the ids alone, one a line.",
        ),
        click.Option(
            ["--query", "common_query"],
            metavar="EXPRESSION",
            expose_value=False,
            callback=_query,
            help="Of the JSON document what this JMESPath expression picks; texts without quotes.",
        ),
        _flag("--utc", "utc", "yes", "Times in full, in UTC, instead of ages."),
        click.Option(
            ["--profile", "common_profile"],
            metavar="NAME",
            expose_value=False,
            callback=_note("profile"),
            shell_complete=profiles,
            help="A profile of the file.",
        ),
        click.Option(
            ["--url", "common_url"], metavar="URL", expose_value=False, callback=_note("url"), help="The API's address."
        ),
    ]


def _key(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value and not (value.isascii() and value.isprintable()):
        raise click.BadParameter("a key has only printable characters of ASCII")
    _note("key")(context, parameter, value)


def key() -> click.Option:
    return click.Option(
        ["--key", "common_key"],
        metavar="TEXT",
        expose_value=False,
        callback=_key,
        help="The Idempotency-Key; a new one for each command if none is given.",
    )


def _flat(values: Iterable[Any]) -> list[Any]:
    return [each for value in values for each in (value if isinstance(value, tuple) else (value,))]


class BaseCommand(click.Command):
    """A command with the options that all commands have, which its help shows last. A usage error without a next step
    names the help. ``states``: the states of the tasks that it takes; empty for any."""

    def __init__(self, *args: Any, takes_key: bool = False, states: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self.states = states
        self.own = completed(list(self.params))
        self.params = [*self.params, *([key()] if takes_key else []), *common()]

    def invoke(self, ctx: click.Context) -> Any:
        if LAST in _flat(ctx.params.values()):
            from baton_cli import last_ids

            ctx.params = last_ids.resolved(ctx.params)
            ctx.ensure_object(CommandContext).flags["last"] = "yes"
        try:
            return super().invoke(ctx)
        except BatonError as failure:
            usual = f"{ctx.command_path} --help" if isinstance(failure, Misused) else ""
            failure.next_step = (next_step_of(failure) or usual).replace("baton COMMAND", ctx.command_path)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rest = [each for each in self.get_params(ctx) if each not in self.own]
        for title, parameters in (("Options", self.own), ("Options of every command", rest)):
            records = [each.get_help_record(ctx) for each in parameters if isinstance(each, click.Option)]
            if found := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(found)
