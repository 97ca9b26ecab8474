"""Handlers parse, call one use case, and answer: none reads the table itself."""

from __future__ import annotations

import ast
from pathlib import Path

FUNCTIONS = Path(__file__).parents[2] / "functions"
MODULES = sorted(path.relative_to(FUNCTIONS).as_posix() for path in FUNCTIONS.rglob("*.py"))


def test_no_handler_calls_the_store() -> None:
    found = [
        f"{module}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(ast.parse((FUNCTIONS / module).read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "store"
    ]
    assert found == [], "these lines call the store: a use case does that"


ENTRIES = sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py") if path.parent.name != "console")


def test_each_entry_that_reaches_the_table_begins_an_invocation() -> None:
    """Else the table is waited for as long as the invocation before this one had time."""
    assert len(ENTRIES) > 5
    assert {function: called_by(function).count("begin") for function in ENTRIES} == dict.fromkeys(ENTRIES, 1)


def called_by(function: str) -> list[str]:
    tree = ast.parse((FUNCTIONS / function / "handler.py").read_text())
    (entry,) = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "lambda_handler"]
    return [each.func.id for each in ast.walk(entry) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
