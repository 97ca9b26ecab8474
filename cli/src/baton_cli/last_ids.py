"""``@last``: the ids that this terminal's last answers had, by kind. Each session of a terminal has a file of its own,
so that no other one, and no agent of another one, says what is meant."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from baton_cli.shell_completion import LAST
from baton_client.errors import Misused
from baton_client.folders import session_folder

LAST_SECONDS = 12 * 3_600
_OLD_SECONDS = 7 * 86_400
# The name of an argument or option → the kind of id that it takes.
_KINDS = {
    "task": "task",
    "task_id": "task",
    "tasks": "task",
    "handoff": "ho",
    "handoff_id": "ho",
    "workflow": "wf",
    "workflow_id": "wf",
    "of": "wf",
    "claim_id": "clm",
    "review_id": "review",
    "alert_id": "alert",
    "entry_id": "ent",
    "supersedes": "ent",
    "resume": "wf",  # a conversation is a workflow
}
_NAMES = ("id", "handoff_id", "task_id", "workflow_id", "claim_id", "conversation_id")


def note(answer: Any, *, is_whole: bool) -> None:
    """Remembers the ids of an answer, unless it is a list. If nothing can be written, nothing is remembered.
    ``is_whole``: all of the answer is printed."""
    found = _ids(answer)
    # Only the view of a handoff has all of its content.
    if is_whole and isinstance(answer, dict) and answer.get("digest") and "expectations" in answer:
        found |= _seen(answer)
    if found:
        _keep(found)


def note_seen(handoff: dict[str, Any]) -> None:
    """Remembers that all of the handoff was shown."""
    if handoff.get("digest"):
        _keep(_seen(handoff))


def _seen(handoff: dict[str, Any]) -> dict[str, Any]:
    return {"seen": {"id": handoff["task_id"], "revision": handoff["revision"], "digest": handoff["digest"]}}


def _keep(found: dict[str, Any]) -> None:
    path = _path()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _forget_old(path.parent)
        made = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(_known() | found, file)
        made.replace(path)


def resolved(params: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters with the id in place of each ``@last``. Raises ``Misused``."""
    return {name: _resolved(name, value) for name, value in params.items()}


def seen(task_id: str) -> dict[str, Any]:
    """Returns the revision and digest of the task, if it is the one that was shown last."""
    content = _known().get("seen") or {}
    return {name: content[name] for name in ("revision", "digest")} if content.get("id") == task_id else {}


def _resolved(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_resolved(name, each) for each in value)
    if value != LAST or name not in _KINDS:
        return value
    if (found := _known().get(_KINDS[name])) is None:
        what = name.removesuffix("_id").removesuffix("s")
        raise Misused(f"there is no last {what} here", "this terminal's commands have shown none yet", "name its id")
    return found


def _ids(answer: Any) -> dict[str, Any]:
    """Returns the ids by their kind, which is the prefix of an id."""
    if not isinstance(answer, dict) or "items" in answer:
        return {}
    found: dict[str, Any] = {}
    for each in (answer.get("task"), answer.get("handoff"), answer):
        if isinstance(each, dict):
            said = {name: each[name] for name in _NAMES if isinstance(each.get(name), str)}
            said |= {"wf": (each.get("metadata") or {}).get("workflow_id")} if "handoff_id" in said else {}
            found |= {str(value).partition("_")[0]: value for value in said.values() if value}
    return found


def _known() -> dict[str, Any]:
    path = _path()
    try:
        if time.time() - path.stat().st_mtime > LAST_SECONDS:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _path() -> Path:
    """Returns the file of this terminal's session. Windows has no sessions: the shell above stands for one."""
    session = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return session_folder() / f"last-{session}.json"


def _forget_old(folder: Path) -> None:
    for each in folder.glob("last-*"):
        if time.time() - each.stat().st_mtime > _OLD_SECONDS:
            each.unlink(missing_ok=True)
