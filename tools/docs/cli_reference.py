"""docs/cli.md, from the program.

cli_reference.py           write it
cli_reference.py --check   fail if it isn't what the program says
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator

import click

from baton_cli.base_command import BaseCommand, common, key
from baton_cli.main import NOUNS, cli
from tools.docs.made_page import write_or_check

INTRODUCTION = """# The command line

`baton` is every operation of [the API](api.md) as a command, and what takes several of them: a queue of approvals, a
conversation, a worker. This page is made by `make openapi` from the program.

```console
$ make install             # puts baton and baton-mcp in ~/.local/bin (or: uv tool install ./cli)
$ baton up                 # the local stack, and its profiles; for a deployment: baton init
$ baton handoff list
```

## Install and uninstall

`make install` in a checkout installs both commands into `~/.local/bin`. `uv tool install ./cli` installs `baton`
alone. Without a checkout, use a release's wheels, which `make wheels` builds. In their folder,
`pip install --require-hashes -r baton-cli.txt` installs the command, the client and everything that they need, and
checks each file against its hash.

**Another program called `baton`.** Other packages install a command of this name, such as `baton-handoff`.
`make install` never replaces or hides such a command: it names the owner and changes nothing.
`uv tool install ./cli` ends with `Executable already exists: baton`. In this case Baton's command has the name
`baton-cli`:

```console
$ make install COMMAND=baton-cli
$ baton-cli --version
```

Usage lines and next steps then show `baton-cli`; these pages write `baton`. With pipx the same name comes from
`--suffix=-cli`.

**Uninstall.** Revoke the tokens of your profiles first, because they stay valid: `baton tokens revoke TOKEN`.

```console
$ make uninstall                              # after uv tool install: uv tool uninstall baton-cli
$ make clean                                  # stops the local stack, removes its state
$ rm -r ~/.config/baton ~/.local/state/baton  # profiles, and unsent reports of workers
```

`claude mcp remove baton` and `claude plugin uninstall baton@baton` remove Baton from Claude Code.
`make remove` removes a deployment ([operations](operations.md)).

## Where, and as whom

A flag goes before the environment, and that before the file. A token of the file goes to its profile's address
alone: with another one, `BATON_TOKEN` is needed too.

| | flag | environment | in `~/.config/baton/config.toml` |
| --- | --- | --- | --- |
| the profile | `--profile` | `BATON_PROFILE` | `default` |
| the API's address | `--url` | `BATON_URL` | `url` |
| the token | none: others see a command line | `BATON_TOKEN` | `token` |
| the agent | each command's `--agent` or `--from` | `BATON_AGENT` | `agent` |
| the claim | `--claim` | `BATON_CLAIM_ID` | |

```toml
default = "local"

[profiles.local]
url = "https://baton.example.com"
token = "baton_…"

[profiles."local.qa"]
url = "https://baton.example.com"
token = "baton_…"
agent = "qa"
```

An address at `http://` is refused unless it is this machine's. The file has to be readable by its owner only
(`chmod 600`); `XDG_CONFIG_HOME` moves it, `BATON_CHECKOUT` says where the local stack is. `NO_COLOR`, and for an API
at `https://` `HTTPS_PROXY` and `NO_PROXY`, are obeyed.

## What is printed

- On a terminal, a screen; elsewhere, or with `--json`, one JSON document as [openapi.json](openapi.json) has it.
  `baton events tail --follow` is an exception: a line of JSON for each entry. `baton approvals list` has the open
  `questions` beside the page of tasks, `baton ask` the fields of the decision that counts beside the question's.
- On a standard output of another encoding than UTF-8 (`PYTHONIOENCODING`, a Windows code page), JSON is ASCII, with its
  own escapes.
- `--text` prints the screen off a terminal, too. Times are ages, with `--utc` in full.
- `-o name` prints ids alone, one a line, and `--query` what an expression of [JMESPath](https://jmespath.org) picks
  of the document: `TASK=$(baton handoff create … --query task.id)`. A text that it picks has no quotes.
- Texts of agents are shown with their control characters written out: `\\x1b` is a text, and turns nothing red.
- `baton approvals` shows [warnings](warnings.md) above each request. Texts of agents stand on lines of their own,
  behind a `│`.
- Remarks, progress and errors are on standard error. An error says what happened, why, and what next.
- Nobody is asked anything where `CLAUDECODE`, `CURSOR_AGENT`, `CODEX_SANDBOX`, `AGENT` or `AI_AGENT` is set, or where
  standard input is no terminal.

| exit code | what it means |
| --- | --- |
| 0 | done; also if whoever read the output has read enough |
| 1 | refused or failed; the task that was awaited ended otherwise |
| 2 | wrong usage, or a file of profiles that isn't right: nothing was sent |
| 3 | not found |
| 4 | not allowed |
| 5 | no answer, too busy, or not in time |
| 10 | `baton ask`: people refused, or took their approval back |
| 11 | `baton ask`: nobody decided in time, which is neither a yes nor a no |
| 12 | `baton ask`: the question was withdrawn, as its task has ended or the claim is over |
| 130 | interrupted |

A failure after the answer changes no exit code of a command that changed something: a full disk, a closed stream, a
`--query` that doesn't fit the answer. Standard error has the id then, or standard output has the whole answer. A
command that only reads ends with 1, or with 2 for its `--query`. A `--query` that isn't JMESPath, or that calls an
unknown function, ends with 2 before anything is sent.

## What is sent

A request that is safe to repeat is: a `GET`, `PUT` or `DELETE`, and a `POST` under the same `Idempotency-Key`, which
each command makes anew unless `--key` gives one. If no answer of Baton's comes, or 408, 429, 500, 502, 503 or 504,
the command sends the request again for 40 s, at least four times. Pauses grow to 4 s; a `Retry-After` of up to 30 s
is kept to. The cause appears on standard error at the first pause, then every 10 s. `baton init`, `baton doctor` and
completion try once.

Only Baton's own answers count: a problem document with a `code`, or the status, content type and shape that
[openapi.json](openapi.json) declares. An answer of a proxy, a portal, a firewall or AWS itself is no answer: the exit
code is 5, and `why` names its status and content type. A command that waits (`baton await`, `--wait`, `--follow`,
`baton ask`) continues through an outage for as long as it may wait. [Faulty networks](faulty-networks.md) shows each
verb.

`@last` in place of an id is the one that this terminal's last answer had: the task, handoff, workflow, claim, review,
alert, entry or conversation that was made or shown last, within twelve hours. `baton tasks approve @last` approves what
was shown of it whole, by `show`: if that has changed since, it is refused. `baton completion` prints what has a shell
complete commands, options, agents, tasks, states and profiles. ([Decision
079](decisions/079-the-command-picks-and-remembers.md))

`TEXT` of a summary, a reason, a description or a note may be `@FILE`, or `-` for standard input; so may `JSON`.
Files and standard input are UTF-8, and a byte order mark is no part of the text.
`TIME` is as `2h` or `3d`, or RFC 3339. Without an offset it is this machine's local time, by the rule of RFC 5545: a
time in the hour that the clocks skip counts by the offset before that hour, and a time that occurs twice is the first
one. `TEXT …` may be given several times. `--data` takes the rest of a body: what
has an option of its own goes before it.

## Windows

Baton's programs haven't been run on Windows. They avoid the calls that it lacks:

- `baton worker` refuses to start: it needs process groups and signals.
- `baton approvals` lists the requests, as single keys need `termios`. `show`, `approve` and `answer` decide on them.
- The modes of the file of profiles and of `run-key` aren't checked.
- Two `baton init` at the same moment can lose a profile, as the file isn't locked.
- `@last` belongs to the shell that started the command, not to a terminal's session.
- The hooks of the Claude Code plugin know no claims.
"""


def document() -> str:
    return "\n".join([INTRODUCTION, *_everywhere(), *_commands()]).rstrip() + "\n"


def _everywhere() -> Iterator[str]:
    yield "## Options of every command"
    yield ""
    yield from _options(click.Context(cli, info_name="baton"), [key(), *common()])
    yield ""


def _commands() -> Iterator[str]:
    root = click.Context(cli, info_name="baton")
    for name in NOUNS:
        command = cli.get_command(root, name)
        assert command is not None  # noqa: S101 - it is in the list
        context = click.Context(command, info_name=name, parent=root)
        yield f"## baton {name}"
        yield ""
        yield _help(command)
        yield ""
        if isinstance(command, click.Group):
            for verb in command.list_commands(context):
                yield from _command(command.commands[verb], context)
        else:
            yield from _usage(command, context)


def _command(command: click.Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    yield f"### {context.command_path}"
    yield ""
    yield _help(command)
    yield ""
    yield from _usage(command, context)


def _usage(command: click.Command, context: click.Context) -> Iterator[str]:
    arguments = [each.make_metavar(context) for each in command.params if isinstance(each, click.Argument)]
    own = command.own if isinstance(command, BaseCommand) else command.params
    options = [each for each in own if isinstance(each, click.Option)]
    yield f"`{' '.join([context.command_path, *arguments, *(['[OPTIONS]'] if options else [])])}`"
    yield ""
    if options:
        yield from _options(context, options)
        yield ""


def _options(context: click.Context, options: list[click.Parameter] | list[click.Option]) -> Iterator[str]:
    for each in options:
        record = each.get_help_record(context)
        if record is not None:
            yield f"- `{record[0]}`: {' '.join(record[1].split())}" if record[1] else f"- `{record[0]}`"


def _help(command: click.Command) -> str:
    """What click wraps is one paragraph; what it leaves as it is, a block."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(
        f"```text\n{each[2:].strip()}\n```" if each.startswith("\b") else " ".join(each.split()) for each in paragraphs
    )


def main() -> int:
    os.environ.pop("BATON_CLAIM_ID", None)
    return write_or_check("cli.md", document)


if __name__ == "__main__":
    sys.exit(main())
