"""What moto and botocore do over and over is done once: half of the tests' time otherwise. Nothing that they answer
changes."""

from __future__ import annotations

import copy
from collections import OrderedDict
from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader
from moto.dynamodb import models
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table


class _Copies:
    """moto keeps a copy of the whole table for every item of a transaction; one for all of them does."""

    def __init__(self) -> None:
        self._of_tables: dict[int, Table] = {}

    def forget(self) -> None:
        self._of_tables.clear()

    def deepcopy(self, value: Any) -> Any:
        if not isinstance(value, Table):
            return copy.deepcopy(value)
        if id(value) not in self._of_tables:
            self._of_tables[id(value)] = copy.deepcopy(value)
        return self._of_tables[id(value)]


def quicken() -> None:
    """For this process; however often it is called."""
    if isinstance(models.copy, _Copies):
        return
    copies, transact, load = _Copies(), DynamoDBBackend.transact_write_items, JSONFileLoader.load_file

    def transact_write_items(self: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
        try:
            transact(self, transact_items)
        finally:
            copies.forget()

    @cache
    def loaded(path: str) -> OrderedDict[str, Any] | None:
        return load(JSONFileLoader(), path)

    def load_file(_self: JSONFileLoader, file_path: str) -> OrderedDict[str, Any] | None:
        """Every session reads the same descriptions of services, and none writes into them."""
        return loaded(file_path)

    models.copy = copies  # type: ignore[assignment]
    DynamoDBBackend.transact_write_items = transact_write_items  # type: ignore[method-assign]
    JSONFileLoader.load_file = load_file  # type: ignore[method-assign]
