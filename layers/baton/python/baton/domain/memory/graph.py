"""The graph of a workspace's work (docs/spec/memory.md §6): who hands to whom, who made what, what decisions touch.

It is made of handoffs and decisions whenever it is asked for, and not stored: it can't differ from them, and no write
can fail because of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import chain
from statistics import median
from typing import Any

from baton.domain import errors
from baton.domain.handoffs.handoff import files_of
from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.scope import MAX_SCOPE, ROOT, parse_scope
from baton.domain.task_state import State
from baton.domain.tasks.task import Task

MAX_DEPTH = 3
_TASK, _DECISION = "task_", "ent_"


class NodeKind(StrEnum):
    AGENT = "agent"
    FILE = "file"
    MODULE = "module"
    TASK = "task"
    DECISION = "decision"


class EdgeKind(StrEnum):
    HANDED_OFF_TO = "handed_off_to"
    PRODUCED = "produced"
    AFFECTS = "affects"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True)
class Node:
    """``name``: an agent's slug, a path, an id. ``label``: what a person reads."""

    kind: NodeKind
    name: str
    label: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Edge:
    """``count``: how often. ``last_id``: the handoff or decision that said it last."""

    kind: EdgeKind
    source: str  # a node's id
    target: str
    count: int
    last_id: str
    last_at: datetime


@dataclass(frozen=True, slots=True)
class GraphHandoff:
    """A handoff, as the graph uses it. ``given``: the files that its source had made; ``made``: the files of its
    outcome."""

    task: Task
    given: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    @property
    def to(self) -> str | None:
        """The agent that got it: for open work, the agent that took it."""
        return self.task.agent


def graph_handoff(task: Task, message: HandoffMessage, completion: Mapping[str, Any] | None) -> GraphHandoff:
    said = completion or {}
    made = chain(*files_of(said).values(), _artifacts(said.get("results", ())))
    return GraphHandoff(task, tuple(_artifacts(message.results or ())), tuple(dict.fromkeys(made)))


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """``nodes``: the node itself first, then by distance. ``is_whole``: False if there were too many."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    is_whole: bool


@dataclass
class Graph:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[EdgeKind, str, str], Edge] = field(default_factory=dict)

    def around(self, node_id: str, depth: int, most: int) -> Neighbourhood:
        """Returns the nodes within ``depth`` edges, whichever way the edges point. Raises ``Unknown``."""
        if node_id not in self.nodes:
            raise errors.Unknown("node")
        beside = self._beside()
        found, border = {node_id: None}, [node_id]
        for _ in range(depth):
            border = sorted({each for known in border for each in beside.get(known, ())} - found.keys())
            found |= dict.fromkeys(border)
        kept = list(found)[:most]
        shown = set(kept)
        edges = (edge for edge in self.edges.values() if {edge.source, edge.target} <= shown)
        ordered = sorted(edges, key=lambda edge: (edge.kind, edge.source, edge.target))
        return Neighbourhood(tuple(self.nodes[each] for each in kept), tuple(ordered), len(found) <= most)

    def _beside(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for edge in self.edges.values():
            found.setdefault(edge.source, []).append(edge.target)
            found.setdefault(edge.target, []).append(edge.source)
        return found

    def _add(self, kind: EdgeKind, source: Node, target: Node, last: tuple[str, datetime]) -> None:
        self.nodes.setdefault(source.id, source)
        self.nodes.setdefault(target.id, target)
        key, (last_id, last_at) = (kind, source.id, target.id), last
        before = self.edges.get(key)
        if before is None:
            self.edges[key] = Edge(*key, 1, last_id, last_at)
            return
        later = max((before.last_at, before.last_id), (last_at, last_id))
        self.edges[key] = Edge(*key, before.count + 1, later[1], later[0])

    def _add_handoff(self, handoff: GraphHandoff) -> None:
        task, source = handoff.task, _agent(handoff.task.source_agent)
        made, ended = (task.handoff_id, task.created_at), (task.handoff_id, task.meta.updated_at)
        work = Node(NodeKind.TASK, task.id, task.title)
        self.nodes.setdefault(work.id, work)
        if handoff.to is not None:
            self._add(EdgeKind.HANDED_OFF_TO, source, _agent(handoff.to), made)
        if task.is_done and task.agent is not None:
            self._add(EdgeKind.PRODUCED, _agent(task.agent), work, ended)
        for path in handoff.given:
            self._add(EdgeKind.PRODUCED, source, _path(path), made)
        for path in handoff.made:
            self._add(EdgeKind.PRODUCED, work, _path(path), ended)

    def _add_decision(self, decision: Entry, known: Mapping[str, Entry]) -> None:
        node, said = _decision(decision), (decision.id, decision.posted_at)
        self.nodes.setdefault(node.id, node)
        for target in _touched(decision):
            self._add(EdgeKind.AFFECTS, node, target, said)
        replaced = known.get(decision.supersedes or "")
        if replaced is not None:
            self._add(EdgeKind.SUPERSEDES, node, _decision(replaced), said)


def graph_of(handoffs: Iterable[GraphHandoff], decisions: Iterable[Entry]) -> Graph:
    """The order of what is given makes no difference."""
    graph, known = Graph(), {entry.id: entry for entry in decisions}
    for handoff in sorted(handoffs, key=lambda each: each.task.id):
        graph._add_handoff(handoff)
    for entry_id in sorted(known):
        graph._add_decision(known[entry_id], known)
    return graph


@dataclass(frozen=True, slots=True)
class DirectionReport:
    """Who hands to whom. ``median_seconds``: from the handoff to its end, of those that were done; None if none was."""

    source: str
    target: str | None  # None: open work that nobody has taken
    handoffs: int
    done: int
    failed: int
    rejected: int
    cancelled: int
    open: int
    median_seconds: float | None
    last_at: datetime


def directions_of(handoffs: Iterable[GraphHandoff]) -> list[DirectionReport]:
    """Returns the directions, those with the most handoffs first."""
    grouped: dict[tuple[str, str | None], list[Task]] = {}
    for handoff in handoffs:
        grouped.setdefault((handoff.task.source_agent, handoff.to), []).append(handoff.task)
    reports = (_report(source, target, tasks) for (source, target), tasks in grouped.items())
    return sorted(reports, key=lambda each: (-each.handoffs, each.source, each.target or ""))


def _report(source: str, target: str | None, tasks: list[Task]) -> DirectionReport:
    ends = Counter(task.state for task in tasks)
    took = [(task.meta.updated_at - task.created_at).total_seconds() for task in tasks if task.state is State.DONE]
    return DirectionReport(
        source=source,
        target=target,
        handoffs=len(tasks),
        done=ends[State.DONE],
        failed=ends[State.FAILED],
        rejected=ends[State.REJECTED],
        cancelled=ends[State.CANCELLED],
        open=sum(not task.is_ended for task in tasks),
        median_seconds=median(took) if took else None,
        last_at=max(task.created_at for task in tasks),
    )


def _artifacts(results: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for result in results:
        yield from result.get("artifacts", ())


def _touched(decision: Entry) -> Iterator[Node]:
    """Returns what a decision is about: its scope, unless that is the root, and its references, other decisions
    apart."""
    if decision.scope != ROOT:
        yield _path(decision.scope)
    for reference in decision.relates_to:
        if reference.startswith(_TASK):
            yield Node(NodeKind.TASK, reference, reference)
        elif not reference.startswith(_DECISION):
            yield _path(reference)


def _agent(slug: str) -> Node:
    return Node(NodeKind.AGENT, slug, slug)


def _decision(entry: Entry) -> Node:
    return Node(NodeKind.DECISION, entry.id, entry.summary)


def _path(text: str) -> Node:
    """Returns the node of a path: a file if its last part has a dot, else a module, that is a folder or another subject
    of work."""
    try:
        path = parse_scope(text)
    except errors.InvalidInput:
        path = text[:MAX_SCOPE]
    kind = NodeKind.FILE if "." in path.rpartition("/")[2] else NodeKind.MODULE
    return Node(kind, path, path)


def is_decision(entry: Entry) -> bool:
    """True for a decision that is shown, even if it was replaced."""
    return entry.entry_type is EntryType.DECISION and entry.is_shown
