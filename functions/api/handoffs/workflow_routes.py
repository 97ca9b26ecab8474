"""A workflow's chain of handoffs, and its checkpoints."""

from __future__ import annotations

from typing import Literal

from api.handoffs.chain_views import ChainView, chain_view
from api.handoffs.checkpoint_views import CheckpointPage, checkpoint_view
from baton.domain.handoffs.chain import drawn
from baton.ports.deps import Deps
from baton.services.handoffs.list_checkpoints import checkpoints_of_task, checkpoints_of_workflow
from baton.services.handoffs.workflow_chain import see_workflow, workflow_chain
from rest import answers, models, pages, routing

routes = routing.Routes()


class ChainQuery(models.Query):
    """``format``: ``text`` draws the chain."""

    format: Literal["json", "text"] = "json"


@routes.get(
    "/workflows/{workflow_id}/chain",
    query=models.query(ChainQuery),
    answers={200: ChainView},
    may_be_text=True,
    made_of_tasks=True,
)
def get_chain(deps: Deps, call: routing.Call[None, ChainQuery]) -> answers.Answer:
    """The tree of a workflow's handoffs: source and target of each, its duration and its outcome.

    With `format=text` it is drawn, from top to bottom in the order of the work. A caller that may not read all of the
    workflow's tasks gets the others without their texts (`hidden`).
    """
    workflow_id = call.params["workflow_id"]
    if call.query.format == "text":
        return answers.plain(drawn(workflow_id, workflow_chain(deps, call.by, workflow_id)))
    return answers.ok(chain_view(see_workflow(deps, call.by, workflow_id)))


@routes.get("/workflows/{workflow_id}/checkpoints", query=models.query(models.PageQuery), answers={200: CheckpointPage})
def list_workflow_checkpoints(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The workflow's checkpoints, newest first: saved by workers, and the state of each handoff at its creation.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    options = call.query
    page = checkpoints_of_workflow(deps, call.by, call.params["workflow_id"], options.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, checkpoint_view))


@routes.get("/tasks/{task_id}/checkpoints", query=models.query(models.PageQuery), answers={200: CheckpointPage})
def list_task_checkpoints(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The task's checkpoints, newest first: those that its workers saved, and the state of its handoff.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    page = checkpoints_of_task(deps, call.by, call.task_id, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, checkpoint_view))
