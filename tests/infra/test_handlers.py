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


ENTRIES = sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py") if path.parent.name != "console")


@pytest.mark.parametrize("function", ENTRIES)
def test_each_entry_that_reaches_the_table_begins_an_invocation(function: str) -> None:
    """Else the table is waited for as long as the invocation before this one had time."""
    tree = ast.parse((FUNCTIONS / function / "handler.py").read_text())
    (entry,) = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "lambda_handler"]
    called = [
        each.func.id for each in ast.walk(entry) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    ]
    assert called.count("begin") == 1
