"""The table as an operator sees it, with the calls that only an operator makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baton.domain.numbers import dumps
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.fake_dynamo.client import Key
from support.fakes.fake_dynamo.expressions import holds
from support.fakes.store import TABLE, InMemoryStore
from support.worlds.world import WORKSPACE, World
from tools.admin.workspace_data import WorkspaceData

Line = dict[str, Any]


class OperatorsDynamo:
    """The fake table with an operator's calls. A scan reads a few items at a time, and a batch leaves its last item
    undone at first. ``meanwhile``: is called after the number of scans."""

    def __init__(self, dynamo: FakeDynamo) -> None:
        self.dynamo, self.scans, self.written = dynamo, 0, 0
        self.meanwhile: dict[int, Callable[[], object]] = {}

    def scan(self, **request: Any) -> Line:
        assert request["ConsistentRead"]
        self.scans += 1
        self.meanwhile.pop(self.scans, lambda: None)()
        start = request.get("ExclusiveStartKey")
        rows = sorted(self.dynamo.contents().items())
        rows = [row for row in rows if start is None or row[0] > (start["pk"]["S"], start["sk"]["S"])]
        seen, names = rows[:50], {"pk", "sk"} if "ProjectionExpression" in request else None
        question = {**request, "ConditionExpression": request["FilterExpression"]}
        found = [item for _, item in seen if holds(question, item)]
        page: Line = {"Items": [{n: v for n, v in item.items() if names is None or n in names} for item in found]}
        return page | ({"LastEvaluatedKey": _key(seen[-1][0])} if len(rows) > len(seen) else {})

    def batch_write_item(self, **request: Any) -> Any:
        ((table, requests),) = request["RequestItems"].items()
        assert 0 < len(requests) <= 25
        self.written += 1
        left = requests[-1:] if len(requests) > 1 else []
        for each in requests[: len(requests) - len(left)]:
            self.dynamo.delete(each["DeleteRequest"]["Key"])
        return {"UnprocessedItems": {table: left} if left else {}}


def _key(key: Key) -> Line:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def dynamo_of(world: World) -> FakeDynamo:
    assert isinstance(world.store, InMemoryStore)
    return world.store.dynamo


def data_of(world: World, workspace: str = WORKSPACE) -> tuple[WorkspaceData, OperatorsDynamo]:
    table = OperatorsDynamo(dynamo_of(world))
    return WorkspaceData(world.deps, table, TABLE, workspace), table


def exported(data: WorkspaceData) -> str:
    return "".join(dumps(line, ensure_ascii=False) + "\n" for line in data.export())
