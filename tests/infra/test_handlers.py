"""Handlers parse, call one use case, and answer: none reads the table itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parents[2] / "functions"
MODULES = sorted(path.relative_to(FUNCTIONS).as_posix() for path in FUNCTIONS.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_no_handler_calls_the_store(module: str) -> None:
    tree = ast.parse((FUNCTIONS / module).read_text())
    found = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "store"]
    assert found == [], f"{module} calls the store in these lines: a use case does that"
