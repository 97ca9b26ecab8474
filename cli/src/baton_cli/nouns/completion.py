"""`baton completion`: the script by which a shell completes commands."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion", cls=BaseCommand)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_obj
def command(app: CommandContext, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash  baton completion bash > ~/.local/share/bash-completion/completions/baton
    zsh   baton completion zsh > "${fpath[1]}/_baton"
    fish  baton completion fish > ~/.config/fish/completions/baton.fish
    """
    root = click.get_current_context().find_root()
    app.out.write(SHELLS[shell](root.command, {}, str(root.info_name), "_BATON_COMPLETE").source())
