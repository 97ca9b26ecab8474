"""The graph of a workspace's work."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.memory.graph import MAX_DEPTH, DirectionReport, Edge, Node
from baton.domain.memory.scope import MAX_SCOPE
from baton.ports.deps import Deps
from baton.services.memory.read_graph import read_directions, read_graph
from rest import answers, models, routing
from rest.shape import ViewShape

routes = routing.Routes()

NODE_PATTERN = "^(agent|file|module|task|decision):"


class GraphQuery(models.Query):
    """``node``: ``agent:<slug>``, ``file:<path>``, ``module:<path>``, ``task:<id>`` or ``decision:<id>``. ``since``:
    handoffs made then or later, at most 31 days back, by default 7."""

    node: Annotated[str, StringConstraints(pattern=NODE_PATTERN, max_length=MAX_SCOPE + len("decision:"))]
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH), models.from_digits] = 1
    since: models.QueryInstant | None = None


class DirectionsQuery(models.Query):
    since: models.QueryInstant | None = None


class NodeView(TypedDict):
    """``label``: a task's title, a decision's summary, else the name."""

    id: str
    kind: Literal["agent", "file", "module", "task", "decision"]
    name: str
    label: str


class EdgeView(TypedDict):
    """``source`` and ``target``: nodes' ids. ``last_id``: the handoff or decision that said it last."""

    kind: Literal["handed_off_to", "produced", "affects", "supersedes"]
    source: str
    target: str
    count: int
    last_id: str
    last_at: str


class GraphPage(TypedDict):
    """``nodes``: the node itself, then by distance. ``is_whole``: false if there was more than is looked at: the newest
    500 handoffs, files in 4 MB of their messages and outputs, 1,000 entries, the nearest 200 nodes."""

    nodes: list[NodeView]
    edges: list[EdgeView]
    is_whole: bool


class DirectionView(TypedDict):
    """``target``: null for open work that nobody has taken. ``median_seconds``: from the handoff to its end, of those
    that were done; null if none was."""

    source: str
    target: str | None
    handoffs: int
    done: int
    failed: int
    rejected: int
    cancelled: int
    open: int
    median_seconds: float | None
    last_at: str


class DirectionPage(TypedDict):
    """``counted_since``: handoffs are counted from then on: as asked, or later where there were more than 500.
    ``is_whole``: false then, and where there were more than 200 directions."""

    items: list[DirectionView]
    counted_since: str
    is_whole: bool


_NODE = ViewShape(NodeView, Node)
_EDGE = ViewShape(EdgeView, Edge)
_DIRECTION = ViewShape(DirectionView, DirectionReport)


@routes.get("/graph", query=models.query(GraphQuery), answers={200: GraphPage}, refusals=(404,))
def get_graph(deps: Deps, call: routing.Call[None, GraphQuery]) -> answers.Answer:
    """What is around an agent, a file, a module, a task or a decision, up to three edges away.

    Agents hand off to agents, and produce tasks; tasks, and what agents hand over, produce files; decisions affect
    files, modules and tasks, and supersede each other. Made of the handoffs and decisions that the caller may read.
    """
    query = call.query
    found = read_graph(deps, call.by, query.node, query.depth, query.since)
    return answers.ok(
        {
            "nodes": list(map(_NODE, found.around.nodes)),
            "edges": list(map(_EDGE, found.around.edges)),
            "is_whole": found.is_whole,
        }
    )


@routes.get("/graph/directions", query=models.query(DirectionsQuery), answers={200: DirectionPage}, made_of_tasks=True)
def get_directions(deps: Deps, call: routing.Call[None, DirectionsQuery]) -> answers.Answer:
    """Who hands to whom: how often, with what outcome, and how long it took. The busiest directions first."""
    found = read_directions(deps, call.by, call.query.since)
    return answers.ok(
        {
            "items": list(map(_DIRECTION, found.reports)),
            "counted_since": times.rfc3339(found.since),
            "is_whole": found.is_whole,
        }
    )
