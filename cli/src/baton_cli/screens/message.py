"""The screen of a handoff's whole content, which a person approves. Each text stands beside a mark or a label, and is
wrapped under its own beginning, so that no text looks like a heading or a line of Baton's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from baton_cli import times
from baton_cli.screen import Screen, Styled
from baton_cli.text import one_line
from baton_client import numbers

Json = dict[str, Any]
MOST_CHARACTERS, MOST_LINES = 400, 12
_DASH = Styled("-", "")
# Fields that are drawn by name below, and fields that identify the handoff or tell its end.
_SHOWN = {"target", "summary", "results", "context", "expectations", "rollback", "metadata", "budget", "scope"}
_SHOWN |= {"auto_memories", "snapshot", "source", "input", "conversation", "hops"}
_NOT_ASKED = {"handoff_id", "task_id", "kind", "status", "state", "timestamp", "completion", "failure", "url"}
_NOT_ASKED |= {"revision", "digest"}
# More turns than a task can have: an earlier release named all of them.
_ALL_TURNS = 1_000_000
_KNOWN_METADATA = {"priority", "workflow_id", "parent_handoff", "depth", "not_before", "effort", "labels"}


@dataclass
class Cut:
    """Cuts long texts. ``hidden``: the number of characters left out so far."""

    is_whole: bool = True
    hidden: int = 0

    def text(self, text: str) -> str:
        if self.is_whole:
            return text
        kept = "\n".join(text[:MOST_CHARACTERS].split("\n")[:MOST_LINES])
        return kept if len(kept) == len(text) else f"{kept} … {self._left_out(len(text) - len(kept))}"

    def lines(self, lines: list[str]) -> list[str]:
        kept = lines if self.is_whole else lines[:MOST_LINES]
        shown = [self.text(each) for each in kept]
        if rest := lines[len(kept) :]:
            shown.append(f"… {len(rest)} more of these, {self._left_out(sum(map(len, rest)))}")
        return shown

    def _left_out(self, characters: int) -> str:
        self.hidden += characters
        return f"({characters:,} more characters)"


def asked(screen: Screen, handoff: Json, cut: Cut) -> None:
    """Draws the message, without its reason and direction."""
    for label, value in _terms(screen, handoff):
        screen.marked(f"{label}:", cut.text(value))
    section(screen, "Done So Far", cut.lines([_result(each) for each in handoff["results"]]))
    section(screen, "Context Transferred", cut.lines(list(_context(handoff["context"]))))
    _expectations(screen, handoff, cut)
    if earlier := (handoff.get("conversation") or {}).get("earlier"):
        said_before(screen, earlier, handoff["metadata"]["workflow_id"], "The receiver")
    section(screen, "Chain So Far", cut.lines([_hop(*each) for each in handoff.get("hops", ())]))
    section(screen, "Memory Taken Along", cut.lines(_snapshot(handoff.get("snapshot") or {})))
    rest = {name: value for name, value in handoff.items() if name not in _SHOWN | _NOT_ASKED}
    rest |= _rest(handoff["metadata"], _KNOWN_METADATA)
    for name, value in rest.items():
        section(screen, label_of(name), cut.lines([f"{label}: {said}" for label, said in leaves(value)]))


def said_before(screen: Screen, earlier: list[Json], conversation_id: str, receiver: str) -> None:
    """Draws the earlier tasks of a conversation whose transcripts the receiver of a handoff gets."""
    screen.heading("Earlier Messages")
    screen.line(one_line(f"{receiver} also gets the earlier messages of these tasks:"))
    for each in earlier:
        screen.marked("-", f"{each['task_id']} of {each.get('agent') or 'an agent'}: {_turns(each)}")
    screen.unwrapped(f"Read them: baton api GET /conversations/{conversation_id}/messages", "dim")


def _turns(earlier: Json) -> str:
    if earlier["turns"] >= _ALL_TURNS:
        return "all turns"
    if not earlier["turns"]:
        return "no turns of a model"
    if earlier.get("since") == earlier["turns"]:
        return f"turn {earlier['turns']}, the last one"
    return f"{earlier['turns']} turn{'' if earlier['turns'] == 1 else 's'}"


def content(handoff: Json) -> Json:
    """Returns the message without the fields that identify the handoff."""
    asked_for = _rest(handoff, _NOT_ASKED)
    return asked_for | {
        "metadata": _rest(handoff["metadata"], {"workflow_id", "parent_handoff", "depth"}),
        "rollback": _rest(handoff["rollback"] or {}, {"checkpoint_id"}),
    }


def section(screen: Screen, title: str, lines: list[str]) -> None:
    if lines:
        screen.heading(title)
        for each in lines:
            screen.marked("-", each)


def label_of(name: str) -> str:
    return one_line(name).replace("_", " ").title()


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields every value of a JSON document with its path. A text is written as JSON, so that it stays in one line."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from leaves(each, f"{path}.{_named(name)}" if path else _named(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value, 1):
            yield from leaves(each, f"{path}.{number}" if path else str(number))
    elif path or value not in (None, [], {}):
        yield path or "value", written(value)


def _named(name: str) -> str:
    """Returns the name, in quotes if it could be taken for more than a name."""
    return name if re.fullmatch(r"[\w-]+", name) else written(name)


def written(value: Any) -> str:
    return numbers.dumps(value, ensure_ascii=False)


def _terms(screen: Screen, handoff: Json) -> Iterator[tuple[str, str]]:
    """Yields label and text of what holds for the whole handoff."""
    metadata, expected = handoff["metadata"], handoff["expectations"]
    if handoff["summary"] and handoff["summary"] != handoff["target"]["reason"]:
        yield "Summary", handoff["summary"]
    source = {name: value for name, value in handoff["source"].items() if name != "agent"}
    conversation = handoff.get("conversation") or {}
    for label, value in (
        ("Message", (handoff.get("input") or {}).get("message")),
        ("Instructions", conversation.get("instructions")),
        ("History", conversation.get("history")),
        ("Handed Over By", conversation.get("source")),
        ("Source", _listed(source)),
        ("Scope", handoff.get("scope")),
        ("Effort", metadata.get("effort")),
        ("Labels", _listed(metadata.get("labels") or {})),
        ("Not Before", _at(screen, metadata.get("not_before"))),
        ("Deadline", _deadline(screen, expected)),
        ("Estimated Duration", expected.get("estimated_duration")),
        ("Budget", _listed({**(handoff["budget"] or {}), **_until(screen, handoff["budget"] or {})})),
        ("If It Fails", "; ".join(_rollback(handoff["rollback"] or {}, handoff["task_id"]))),
        ("Memories", _memories(handoff.get("auto_memories"))),
    ):
        if value:
            yield label, value


def _at(screen: Screen, at: str | None) -> str:
    return f"{times.whole(at)}{'' if screen.utc else f' ({screen.ago(at)})'}" if at else ""


def _until(screen: Screen, budget: Json) -> Json:
    return {"deadline": _at(screen, budget["deadline"])} if budget.get("deadline") else {}


def _deadline(screen: Screen, expected: Json) -> str:
    fails = "; the task fails then" if expected.get("fail_on_deadline") else ""
    return f"{_at(screen, expected.get('deadline'))}{fails}" if expected.get("deadline") else ""


def _listed(values: Json) -> str:
    return ", ".join(f"{one_line(name).replace('_', ' ')} {one_line(value)}" for name, value in values.items())


def _rollback(rollback: Json, task_id: str) -> Iterator[str]:
    if rollback.get("on_failure"):
        yield f"back to {rollback['on_failure']}"
    if rollback.get("failure_context"):
        yield f"with {', '.join(map(one_line, rollback['failure_context']))}"
    if (checkpoint := rollback.get("checkpoint_id")) and checkpoint.partition("_")[2] != task_id.partition("_")[2]:
        yield f"from {checkpoint}"  # the checkpoint of another task than this handoff's own
    yield from (
        f"{label} {said}" for label, said in leaves(_rest(rollback, {"on_failure", "failure_context", "checkpoint_id"}))
    )


def _memories(count: int | None) -> str:
    return f"up to {count} entries of the blackboard are added when it is claimed" if count else ""


def _hop(source: str, target: str | None, reason: str) -> str:
    return f"{source} → {target or 'any agent'}: {reason}"


def _result(result: Json) -> str:
    files = f" ({', '.join(map(one_line, result['artifacts']))})" if result.get("artifacts") else ""
    return f"[{result['status']}] {result.get('description') or ''}{files} {result.get('notes') or ''}".rstrip()


def _context(context: Json) -> Iterator[str]:
    artifacts = context.get("artifacts") or []
    yield from (f"{label_of(each['type'])}: {_artifact(each)}" for each in artifacts if each["type"] != "decision")
    yield from _decisions([each for each in artifacts if each["type"] == "decision"])
    project = context.get("project") or {}
    if project.get("name"):
        yield f"Project: {project['name']}"
    if project.get("path"):
        yield f"Path: {project['path']}"
    if project.get("tech_stack"):
        yield f"Tech Stack: {', '.join(project['tech_stack'])}"
    for name, label in (("variables", "Variable"), ("state", "State")):
        yield from (f"{label} {path}: {said}" for path, said in leaves(context.get(name)))
    yield from (f"Memory: {each}" for each in context.get("relevant_memories") or [])
    rest = _rest(context, {"artifacts", "project", "variables", "state", "relevant_memories"})
    yield from (f"Context {path}: {said}" for path, said in leaves(rest))


def _artifact(artifact: Json) -> str:
    said = [artifact.get("description"), artifact.get("content"), _because(artifact)]
    about = "; ".join(filter(None, said))
    path = artifact.get("path")
    return f"{path} ({about})" if path and about else str(path or about)


def _because(artifact: Json) -> str:
    return f"because {artifact['rationale']}" if artifact.get("rationale") else ""


def _decisions(decisions: list[Json]) -> Iterator[str]:
    """Yields the decisions as lines, short ones in one line, as the protocol's document has them."""
    contents = [one_line(each.get("content") or "") for each in decisions]
    is_short = (
        all(set(each) <= {"type", "content"} for each in decisions) and sum(map(len, contents)) <= MOST_CHARACTERS
    )
    if decisions and is_short:
        yield f"Decisions: {len(decisions)} ({', '.join(contents)})"
    else:
        yield from (f"Decision: {_artifact(each)}" for each in decisions)


def _snapshot(snapshot: Json) -> list[str]:
    posted_by = snapshot.get("posted_by") or []
    named = [f" (by {each})" for each in posted_by]
    summaries = snapshot.get("summaries") or []
    return [f"{said}{by}" for said, by in zip(summaries, named + [""] * len(summaries), strict=False)]


def _rest(values: Json, known: set[str]) -> Json:
    return {name: value for name, value in values.items() if name not in known}


def _expectations(screen: Screen, handoff: Json, cut: Cut) -> None:
    expected = handoff["expectations"]
    deliverables, constraints = expected.get("deliverables") or [], expected.get("constraints") or []
    rest = _rest(expected, {"deliverables", "constraints", "estimated_duration", "deadline", "fail_on_deadline"})
    if not deliverables and not constraints and not rest:
        return
    screen.heading("Expectations")
    rows = [*_deliverables(deliverables, _met(handoff))]
    rows += [(_DASH, f"Constraint: {each}") for each in constraints]
    rows += [(_DASH, f"{label_of(path)}: {said}") for path, said in leaves(rest)]
    for number, said in enumerate(cut.lines([text for _, text in rows])):
        mark = rows[number][0] if cut.is_whole or number < MOST_LINES else _DASH
        screen.marked(mark.text, said, mark.style)


def _deliverables(deliverables: list[Json], met: dict[str, bool]) -> Iterator[tuple[Styled, str]]:
    for each in deliverables:
        files = f" ({', '.join(each['files'])})" if each.get("files") else ""
        yield _DASH, f"{label_of(each['type'])}: {each['description']}{files}"
        for criterion in each.get("acceptance_criteria") or []:
            box = _box(met.get(criterion))
            yield Styled(f"- {box.text}", box.style), criterion


def _met(handoff: Json) -> dict[str, bool]:
    verification = (handoff["completion"] or {}).get("verification") or {}
    return {each["criterion"]: each["met"] for each in verification.get("acceptance_criteria_met") or []}


def _box(is_met: bool | None) -> Styled:
    if is_met is None:
        return Styled("[ ]", "")
    return Styled("[✓]", "green") if is_met else Styled("[✗]", "red")
