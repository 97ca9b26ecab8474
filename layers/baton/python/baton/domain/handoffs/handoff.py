"""The handoff message (docs/spec/protocol.md §1): the fields that are computed, merged and required. A message is
stored as the JSON that was sent, with the protocol's spelling, and never rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import InvalidInput, TooLarge
from baton.domain.escalations.marker import PRIORITIES, Priority, one_line
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.tasks.task import State
from baton.domain.tasks.trail import canonical_json
from baton.domain.times import parse_rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from baton.domain.tasks.task import Task

Message = dict[str, Any]

MAX_CONTEXT_BYTES = 262_144
# A record is one item of the table, and an item holds at most 400 KB.
MAX_MESSAGE_BYTES = 380_000
MAX_TITLE = 200
# Characters of a text that are read to make a title.
_MAX_TITLE_SOURCE = 5_000
ACCEPTS, PRODUCES = "accepts:", "produces:"
DECISION = "decision"
# Parts of a context that handoffs extend. A later handoff replaces every other part.
_LISTS, _OBJECTS = ("artifacts", "relevant_memories"), ("project", "state", "variables")


def handoff_id_of(task_id: str) -> str:
    """Returns the id of a task's handoff. A handoff has at most one task, and both ids share their random part."""
    return "ho_" + task_id.removeprefix("task_")


def task_id_of(handoff_id: str) -> str:
    """The inverse of ``handoff_id_of``. The handoff may not exist: the caller compares ``Task.handoff_id``."""
    return "task_" + handoff_id.removeprefix("ho_")


def first_checkpoint_id_of(task_id: str) -> str:
    """Returns the id of the checkpoint that holds the state at the handoff (docs/spec/protocol.md §6)."""
    return "chk_" + task_id.removeprefix("task_")


def requires_of(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the capabilities that the target has to declare: every artifact's type among ``accepts``, every
    deliverable's among ``produces`` (docs/spec/protocol.md §2). A decision is information and needs none; a message
    with a user's input needs none either. ``message``: as it was sent, before its context is merged with earlier
    ones."""
    if "input" in message:
        return ()
    artifacts = _part(message, "context").get("artifacts", ())
    accepted = [ACCEPTS + each["type"] for each in artifacts if each["type"] != DECISION]
    produced = [PRODUCES + each["type"] for each in _part(message, "expectations").get("deliverables", ())]
    return tuple(dict.fromkeys([*accepted, *produced]))


def criteria_of(message: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Returns every acceptance criterion of every deliverable, each once, in order."""
    deliverables = _part(message or {}, "expectations").get("deliverables", ())
    return tuple(dict.fromkeys(text for each in deliverables for text in each.get("acceptance_criteria", ())))


def priority_of(message: Mapping[str, Any]) -> Priority:
    given = _part(message, "metadata").get("priority")
    return PRIORITIES[given] if given is not None else Priority.P2


def budget_of(message: Mapping[str, Any] | None) -> Budget:
    given = dict((message or {}).get("budget") or {})
    deadline = given.pop("deadline", None)
    return Budget(**given, deadline=None if deadline is None else parse_rfc3339(deadline))


def time_of(message: Mapping[str, Any], part: str, name: str) -> datetime | None:
    given = _part(message, part).get(name)
    return None if given is None else parse_rfc3339(given)


def must_be_ahead(message: Mapping[str, Any], now: datetime, at: str = "") -> None:
    """Raises ``InvalidInput`` if a deadline of the message has passed. ``at``: the message's field in the request."""
    for part, name in (("expectations", "deadline"), ("budget", "deadline")):
        given = time_of(message, part, name)
        if given is not None and given <= now:
            raise InvalidInput(".".join(filter(None, (at, part, name))), "must be in the future")


def title_of(message: Mapping[str, Any]) -> str:
    """Returns the summary, the user's message or the reason for the target: one line of at most ``MAX_TITLE``."""
    source_text = message.get("summary") or _part(message, "input").get("message") or message["target"]["reason"]
    text = one_line(source_text.strip()[:_MAX_TITLE_SOURCE]).strip()
    return text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1] + "…"


def merged_context(before: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the earlier context extended by the given one, which wins. Raises ``TooLarge``."""
    old, new = before or {}, given or {}
    context: dict[str, Any] = {}
    for name in dict.fromkeys((*old, *new)):
        values = [each[name] for each in (old, new) if name in each]
        if name in _LISTS and all(isinstance(each, list) for each in values):
            value: Any = _distinct(part for each in values for part in each)
        elif name in _OBJECTS and all(isinstance(each, dict) for each in values):
            value = {key: part for each in values for key, part in each.items()}
        else:
            value = values[-1]
        if value or name not in {*_LISTS, *_OBJECTS}:
            context[name] = value
    must_fit("context", context)
    return context


def fits_in(content: Any, most: int = MAX_CONTEXT_BYTES) -> bool:
    return len(canonical_json(content).encode()) <= most


def must_fit(field: str, content: Any, most: int = MAX_CONTEXT_BYTES) -> None:
    """Raises ``TooLarge`` if ``content`` is over ``most`` bytes as canonical JSON."""
    if not fits_in(content, most):
        raise TooLarge(field, f"is too large after merging with what was handed on before: at most {most} bytes in all")


def files_of(completion: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Returns the paths that a completion lists, under ``created``, ``modified`` and ``tests``."""
    found: dict[str, list[str]] = {"created": [], "modified": [], "tests": []}
    for each in (completion or {}).get("deliverables", ()):
        for name, field in (("created", "files_created"), ("modified", "files_modified"), ("tests", "tests_created")):
            found[name] += each.get(field, ())
    return {name: list(dict.fromkeys(paths)) for name, paths in found.items()}


def status_of(task: Task) -> str:
    """Returns the handoff's status in the protocol's words."""
    match task.state:
        case State.NEEDS | State.DELEGATED | State.NEXT:
            return "pending"
        case State.CLAIMED | State.WAITING:
            return "in_progress"
        case State.DONE:
            return "completed"
        case _:
            return str(task.state)


def _part(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return message.get(name) or {}


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Returns each value once, in the order of first appearance."""
    return list({canonical_json(value): value for value in values}.values())
