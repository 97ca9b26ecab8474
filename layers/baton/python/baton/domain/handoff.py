"""The handoff message (docs/spec/protocol.md §1): what of it is computed, merged and required. A message is kept as the
JSON that it is, in the protocol's spelling, and never rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import InvalidInput, TooLarge
from baton.domain.events import canonical_json
from baton.domain.loop_guard import Budget
from baton.domain.marker import PRIORITIES, Priority, one_line
from baton.domain.task import State
from baton.domain.times import parse_rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from baton.domain.task import Task

Message = dict[str, Any]

MAX_CONTEXT_BYTES = 262_144
# A record is one item of the table, which takes 400 KB.
MAX_MESSAGE_BYTES = 380_000
MAX_TITLE = 200
# Of a user's message, for its title.
_LOOKED_AT = 5_000
ACCEPTS, PRODUCES = "accepts:", "produces:"
DECISION = "decision"
# Parts of a context that grow on the way; whatever else it has is replaced by what is said later.
_LISTS, _OBJECTS = ("artifacts", "relevant_memories"), ("project", "state", "variables")


def handoff_id_of(task_id: str) -> str:
    """One handoff, at most one task: they share their number, so that each leads to the other."""
    return "ho_" + task_id.removeprefix("task_")


def task_id_of(handoff_id: str) -> str:
    """Of a handoff that may not exist; whoever asks compares ``Task.handoff_id``."""
    return "task_" + handoff_id.removeprefix("ho_")


def first_checkpoint_id_of(task_id: str) -> str:
    """Of the state as it was handed over (docs/spec/protocol.md §6)."""
    return "chk_" + task_id.removeprefix("task_")


def requires_of(message: Mapping[str, Any]) -> tuple[str, ...]:
    """What an agent has to declare: every artifact's type among ``accepts``, every deliverable's among ``produces``
    (docs/spec/protocol.md §2). A decision is something to know, not something to work on: nobody declares it.
    ``message`` is what was handed over now, not what its context was merged with. What came with a user's message may
    be anything, and asks for nothing."""
    if "input" in message:
        return ()
    artifacts = _part(message, "context").get("artifacts", ())
    taken = [ACCEPTS + each["type"] for each in artifacts if each["type"] != DECISION]
    made = [PRODUCES + each["type"] for each in _part(message, "expectations").get("deliverables", ())]
    return tuple(dict.fromkeys([*taken, *made]))


def criteria_of(message: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every acceptance criterion of every deliverable, in order."""
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
    """A deadline that is over can't be kept by anybody. ``at``: what the message is called in the request. Raises
    ``InvalidInput``."""
    for part, name in (("expectations", "deadline"), ("budget", "deadline")):
        given = time_of(message, part, name)
        if given is not None and given <= now:
            raise InvalidInput(".".join(filter(None, (at, part, name))), "must be in the future")


def title_of(message: Mapping[str, Any]) -> str:
    """The summary, or else what a user said or what the target is wanted for: one line, at most 200 characters."""
    said = message.get("summary") or _part(message, "input").get("message") or message["target"]["reason"]
    text = one_line(said.strip()[:_LOOKED_AT]).strip()
    return text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1] + "…"


def merged(before: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A context handed on: what was known before, then what is said now; later wins. Raises ``TooLarge``."""
    old, new = before or {}, given or {}
    context: dict[str, Any] = {}
    for name in dict.fromkeys((*old, *new)):
        said = [each[name] for each in (old, new) if name in each]
        if name in _LISTS and all(isinstance(each, list) for each in said):
            value: Any = _together(part for each in said for part in each)
        elif name in _OBJECTS and all(isinstance(each, dict) for each in said):
            value = {key: part for each in said for key, part in each.items()}
        else:
            value = said[-1]
        if value or name not in {*_LISTS, *_OBJECTS}:
            context[name] = value
    must_fit("context", context)
    return context


def fits(content: Any, most: int = MAX_CONTEXT_BYTES) -> bool:
    return len(canonical_json(content).encode()) <= most


def must_fit(field: str, content: Any, most: int = MAX_CONTEXT_BYTES) -> None:
    """Raises ``TooLarge``."""
    if not fits(content, most):
        raise TooLarge(field, f"is too large after merging with what was handed on before: at most {most} bytes in all")


def files_of(completion: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Files that a completion says were touched, by how."""
    found: dict[str, list[str]] = {"created": [], "modified": [], "tests": []}
    for each in (completion or {}).get("deliverables", ()):
        for name, field in (("created", "files_created"), ("modified", "files_modified"), ("tests", "tests_created")):
            found[name] += each.get(field, ())
    return {name: list(dict.fromkeys(paths)) for name, paths in found.items()}


def status_of(task: Task) -> str:
    """A handoff's status in the protocol's words."""
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


def _together(values: Iterable[Any]) -> list[Any]:
    """Each once, in the order of its first appearance."""
    return list({canonical_json(value): value for value in values}.values())
