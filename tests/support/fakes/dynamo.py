"""The table as template.yaml describes it, on whatever engine a client talks to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TEMPLATE = Path(__file__).parents[3] / "template.yaml"


@dataclass(frozen=True)
class Wire:
    """A client as the store has it, and the name of its table."""

    client: Any
    table: str


class _Loader(yaml.CSafeLoader):
    """Reads CloudFormation's short tags as the values that they stand before."""


def _untagged(loader: _Loader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


_Loader.add_multi_constructor("!", _untagged)


@cache
def table_definition() -> dict[str, Any]:
    """Returns the keys and indexes of the template's only table."""
    resources = yaml.load(TEMPLATE.read_text(encoding="utf-8"), _Loader)["Resources"]
    (table,) = [r["Properties"] for r in resources.values() if r["Type"] == "AWS::DynamoDB::Table"]
    wanted = ("BillingMode", "AttributeDefinitions", "KeySchema")
    indexes = [
        {name: each for name, each in index.items() if name != "WarmThroughput"}  # by default there is none
        for index in table["GlobalSecondaryIndexes"]
    ]
    return {**{name: table[name] for name in wanted}, "GlobalSecondaryIndexes": indexes}


def create_table(client: Any, name: str) -> None:
    client.create_table(TableName=name, **table_definition())


def all_items(client: Any, name: str) -> list[dict[str, Any]]:
    """Returns every item of a test's table by a scan, which Baton itself never does."""
    pages = client.get_paginator("scan").paginate(TableName=name, ConsistentRead=True)
    return [item for page in pages for item in page["Items"]]
