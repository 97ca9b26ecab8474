"""What every command takes, and how its help tells it."""

from __future__ import annotations

from typing import Any

import click

from baton_cli.app import App
from baton_cli.exits import Misused


def _note(name: str, fixed: str | None = None) -> Any:
    """A callback that notes what a flag says; the one that stands last on the line holds."""

    def noted(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            context.ensure_object(App).given[name] = fixed or str(value)

    return noted


def _flag(name: str, into: str, says: str, help_: str) -> click.Option:
    return click.Option(
        [name, f"common_{name[2:]}"], is_flag=True, expose_value=False, callback=_note(into, says), help=help_
    )


def common() -> list[click.Parameter]:
    return [
        _flag("--json", "output", "json", "One JSON document on standard output; so it is off a terminal."),
        _flag("--text", "output", "text", "The screen for people, also off a terminal."),
        _flag("--utc", "utc", "yes", "Times in full, in UTC, instead of ages."),
        click.Option(
            ["--profile", "common_profile"],
            metavar="NAME",
            expose_value=False,
            callback=_note("profile"),
            help="A profile of the file.",
        ),
        click.Option(
            ["--url", "common_url"], metavar="URL", expose_value=False, callback=_note("url"), help="The API's address."
        ),
    ]


def key() -> click.Option:
    return click.Option(
        ["--key", "common_key"],
        metavar="TEXT",
        expose_value=False,
        callback=_note("key"),
        help="The Idempotency-Key; a new one for each command if none is given.",
    )


class Leaf(click.Command):
    """A command with the options that every one has, which its help shows last. Wrong usage that names no next step is
    told where the help is."""

    def __init__(self, *args: Any, takes_key: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.own = list(self.params)
        self.params = [*self.params, *([key()] if takes_key else []), *common()]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Misused as misuse:
            misuse.next_step = misuse.next_step or f"{ctx.command_path} --help"
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rest = [each for each in self.get_params(ctx) if each not in self.own]
        for title, parameters in (("Options", self.own), ("Options of every command", rest)):
            records = [each.get_help_record(ctx) for each in parameters if isinstance(each, click.Option)]
            if found := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(found)
