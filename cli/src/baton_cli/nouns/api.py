"""`baton api`: any request, with the profile's token."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click

from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.text import visible
from baton_cli.typed_values import document
from baton_client.core import Request, body_of

METHODS = ("GET", "POST", "PUT", "DELETE")


@click.command("api", cls=BaseCommand, takes_key=True)
@click.argument("method", type=click.Choice(METHODS, case_sensitive=False), metavar="METHOD")
@click.argument("path")
@click.option("--data", "-d", metavar="JSON", help="The body: JSON, @FILE, or - for standard input.")
@click.option("--timeout", type=float, default=35.0, show_default=True, help="Seconds to wait for the answer.")
@click.pass_obj
def command(app: CommandContext, method: str, path: str, data: str | None, timeout: float) -> None:
    """Send one request, and print its answer.

    METHOD is GET, POST, PUT or DELETE; PATH is as docs/api.md has it, such as /tasks/task_1 or
    '/handoffs?state=claimed'. A POST is sent with an Idempotency-Key; each request is repeated if no answer came.
    """
    body = document(data) if data is not None else None
    request = Request[Any](method.upper(), _quoted(path), body, app.key if method.upper() == "POST" else None)
    answer = app.client.answered(request, timeout=timeout)
    found = answer.json if 200 <= answer.status < 300 else body_of(answer)
    if isinstance(found, str):
        app.out.write(visible(found))
    elif found is not None:
        app.out.document(found)


def _quoted(path: str) -> str:
    """The path as it was typed, with what no request line may hold quoted."""
    return quote(f"/{path.lstrip('/')}", safe="/?&=%:@!$'()*+,;~")
