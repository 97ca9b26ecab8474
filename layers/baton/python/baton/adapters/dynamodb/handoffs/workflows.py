"""What a new handoff is decided on, and what surrounds the tasks of a workflow: members, retries, checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.route_items import route_from
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import Table
from baton.domain.handoffs.handoff import begins_its_workflow
from baton.domain.handoffs.workflow import WorkflowMember
from baton.domain.ids import root_id_of
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.paging import Page


@dataclass(eq=False)
class Handoffs:
    _table: Table
    _configs: WorkspaceConfigs

    def handoff_inputs(self, workspace: str, query: HandoffQuery) -> HandoffInputs:
        route_key = keys.route(workspace, query.work_type) if query.work_type is not None else None
        once_key = keys.idempotency_key(workspace, query.idempotency_key.digest) if query.idempotency_key else None
        count_key = keys.handoff_count(workspace, query.workflow_id) if query.workflow_id is not None else None
        roots_key = keys.roots(workspace, *query.roots) if query.roots is not None else None
        parent_keys = _parent_keys(workspace, query.parent_id) if query.parent_id is not None else []
        single = [key for key in (route_key, once_key, count_key, roots_key) if key is not None]
        config, found = self._configs.config(workspace), self._table.get_many([*single, *parent_keys])
        count = found.get(count_key) if count_key else None
        return HandoffInputs(
            settings=config.settings,
            agents={slug: agent for slug in sorted(query.agents) if (agent := config.roster.find(slug)) is not None},
            route=route_from(found.get(route_key)) if route_key else None,
            saved_response=items.saved_response_from(found.get(once_key)) if once_key else None,
            parent=_parent_from(workspace, query.parent_id, found) if query.parent_id is not None else None,
            handoffs=None if count is None else int(count["count"]),
            roots=handoff_items.roots_from(*query.roots, found.get(roots_key)) if query.roots and roots_key else None,
        )


class Workflows:
    def __init__(self, table: Table) -> None:
        self._table = table

    def members(self, workspace: str, workflow_id: str) -> tuple[WorkflowMember, ...]:
        """The root is read after the others: it was there before any of them."""
        found = self._table.query_all(keys.members(workspace, workflow_id))
        parents = {item["sk"]: item.get("parent_id") for item in found}
        root_id = root_id_of(workflow_id)
        if root_id is not None and root_id not in parents:
            head = self._table.get(keys.head(workspace, root_id))
            if head is not None and begins_its_workflow(items.task_from(head)):
                parents[root_id] = None
        return tuple(WorkflowMember(task_id, parents[task_id]) for task_id in sorted(parents))

    def retry_of(self, workspace: str, task_id: str) -> str | None:
        item = self._table.get(keys.task_item(workspace, task_id, keys.RETRY))
        return None if item is None else str(item["retry_id"])

    def checkpoints(self, workspace: str, workflow_id: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.checkpoints(workspace, workflow_id), limit, cursor)
        return Page(tuple(map(handoff_items.checkpoint_from, found)), cursor)


def _parent_keys(workspace: str, task_id: str) -> list[keys.Key]:
    return [keys.head(workspace, task_id), keys.task_item(workspace, task_id, keys.BODY)]


def _parent_from(workspace: str, task_id: str, found: Mapping[keys.Key, Item]) -> TaskDetails | None:
    head, body = _parent_keys(workspace, task_id)
    if head not in found:
        return None
    return TaskDetails(task=items.task_from(found[head]), body=items.payload_from(found.get(body)))
