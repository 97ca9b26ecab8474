"""`baton export`: what happened, in files that need Baton no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from baton_cli import trail_hashes, typed_values
from baton_cli.base_command import BaseCommand
from baton_cli.command_context import CommandContext
from baton_cli.failures import Failure
from baton_cli.nouns.handoff import workflow_of
from baton_cli.text import json_text
from baton_client import numbers
from baton_client.errors import Misused


@click.command("export", cls=BaseCommand)
@click.argument("of", metavar="TASK|HANDOFF|WORKFLOW|testimony")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), help="A folder for a whole workflow.")
@click.option("--since", metavar="TIME", help="Of testimony: tasks made since then; 30d if not given.")
@click.option("--until", metavar="TIME", help="Of testimony: what was decided until then; a minute ago if not given.")
@click.pass_obj
def command(app: CommandContext, of: str, into: Path | None, since: str | None, until: str | None) -> None:
    """Write a task's trail, or with --into a workflow's chain, handoffs, trails and changes of the workspace.

    A trail is as GET /tasks/{id}/events answers it, whole: tools/admin/verify_trail.py verifies it anywhere.

    testimony is what people decided in the workspace, and what that allowed, as lines of a Testimony Record
    (draft-clifford-testimony-record, 0.2). `baton events verify FILE` compares it with the trails.
    """
    if of == "testimony" and into is None:
        _testimony(app, since or "30d", until or "1m")
    elif of == "testimony" or since or until:
        raise Misused(f"{of} isn't exported so", "--into is for a workflow, --since and --until are for testimony")
    elif into is not None:
        _workflow(app, workflow_of(app.client, of), into)
    elif of.startswith("task_"):
        app.out.document(_trail(app, of))
    else:
        raise Misused(f"{of} is no task", "a workflow is several files", f"baton export {of} --into FOLDER")


def _testimony(app: CommandContext, since: str, until: str) -> None:
    from baton_cli import testimony

    now = app.clock()
    span = [typed_values.time(each, now=now, is_past=True) for each in (since, until)]
    app.out.say(f"reading the trails from {span[0]} to {span[1]} …")
    for entry in testimony.record(app.client, *span):
        app.out.write(testimony.written(entry) + "\n")


def _trail(app: CommandContext, task_id: str) -> dict[str, Any]:
    events = list(trail_hashes.entries_of(app.client, task_id))
    return {"events": events, "next_after": events[-1]["seq"] if events else 0}


def _workflow(app: CommandContext, workflow_id: str, into: Path) -> None:
    from baton_cli.screens.chain import walk

    chain = app.client.get(f"/workflows/{workflow_id}/chain")
    nodes = [node for node, _ in walk(chain["nodes"]) if not node["hidden"]]
    _write(into / "chain.json", chain)
    moments = list[str]()
    for number, node in enumerate(nodes, 1):
        handoff_id, task_id = _id(node["handoff_id"]), _id(node["task_id"])
        app.out.say(f"{number} of {len(nodes)}: {handoff_id}")
        _write(into / "handoffs" / f"{handoff_id}.json", app.client.get(f"/handoffs/{handoff_id}"))
        trail = _trail(app, task_id)
        moments += [each["at"] for each in trail["events"]]
        _write(into / "trails" / f"{task_id}.json", trail)
    _write(into / "changes.json", _changes(app, moments))
    if not app.out.is_json:
        app.out.write(f"{len(nodes)} handoffs are in {into}\n")
    else:
        app.out.document({"folder": str(into), "handoffs": len(nodes)})


def _changes(app: CommandContext, moments: list[str]) -> dict[str, Any]:
    """Returns the changes of the workspace from the first event of the workflow to the last one."""
    from baton_cli.testimony_changes import changes_between

    if not moments:
        return {"items": []}
    return {"items": list(changes_between(app.client, min(moments), max(moments)))}


def _id(said: Any) -> str:
    """Returns an id of the answer, for the name of a file. Raises ``Failure`` for a path, which could lead out of the
    folder."""
    if not re.fullmatch("[a-z]+_[0-9a-z]+", str(said)):
        raise Failure(f"{said} is no id", "the API's answer isn't Baton's: no file is named by it", "baton doctor")
    return str(said)


def _write(path: Path, document: Any) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(numbers.dumps(document, ensure_ascii=False, indent=2)) + "\n", encoding="utf-8")
    except OSError as exc:
        raise Failure(f"{path} can't be written", exc.strerror or str(exc)) from exc
