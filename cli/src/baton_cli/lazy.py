"""Groups whose commands are imported when they are called: help and completion pay for nothing else."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """``lazy``: a command's name → the module that has it as ``command``, and its line in the help."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click calls it
        if cmd_name not in self._lazy:
            return None
        found: click.Command = importlib.import_module(self._lazy[cmd_name][0]).command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [
            CompletionItem(name, help=line) for name, (_, line) in self._lazy.items() if name.startswith(incomplete)
        ]
        return found or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return resolved(self, ctx, args)


class Nouns(click.Group):
    """The group of a noun. Its help lists the verbs in the order in which they are declared."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return resolved(self, ctx, args)


def resolved(
    group: click.Group, ctx: click.Context, args: list[str]
) -> tuple[str | None, click.Command | None, list[str]]:
    """Resolves a command's name as click does. An unknown name is answered with similar ones."""
    known = group.list_commands(ctx)
    if args and args[0] not in known and not args[0].startswith("-"):
        near = difflib.get_close_matches(args[0], known, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(known)}."
        raise click.UsageError(f"No command {args[0]!r}.{hint}", ctx)
    return click.Group.resolve_command(group, ctx, args)
