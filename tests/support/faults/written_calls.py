"""The writes of a process, held back until a test lets them arrive, so that two writers meet in any order."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.tasks.change import Change
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE


class _Kept:
    """A client that keeps the writes that it is asked for, and makes none."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def __getattr__(self, operation: str) -> Any:
        def kept(**request: Any) -> dict[str, Any]:
            assert operation == "put_item"
            self.requests.append(request)
            return {}

        return kept


class WrittenCalls:
    """The writes of a process that changes a task. Each arrives when a test says so."""

    def __init__(self, rig: Rig, change: Change) -> None:
        client = _Kept()
        DynamoStore(Table(client, rig.table, Patience(rig.clock))).commit(WORKSPACE, change)
        self.rig, self.requests = rig, client.requests

    def arrive(self, number: int) -> bool:
        """Lets the write of this number arrive. Returns True if its condition held."""
        with suppress(ClientError):
            self.rig.raw.put_item(**self.requests[number])
            return True
        return False
