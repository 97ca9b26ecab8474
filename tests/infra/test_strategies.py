"""What Hypothesis plays again is the same again: strategies draw by Hypothesis alone, or from a seed of their own."""

from __future__ import annotations

import ast

import pytest

from infra.citations import ROOT

MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("*.py")}


def drawn(module: ast.AST) -> set[str]:
    """Returns what a module takes of the random numbers that all share."""
    nodes = list(ast.walk(module))
    used = {
        each.attr
        for each in nodes
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "random"
    }
    taken = {
        name.name
        for each in nodes
        if isinstance(each, ast.ImportFrom) and each.module == "random"
        for name in each.names
    }
    return (used | taken) - {"Random"}


def test_what_plays_hypothesis_takes_no_random_number_of_all() -> None:
    played = {path.name: drawn(each) for path, each in MODULES.items() if "hypothesis" in ast.dump(each)}
    assert len(played) > 15
    assert {name: found for name, found in played.items() if found} == {}


@pytest.mark.parametrize("text", ["import random\nrandom.random()", "from random import choice", "random.seed(3)"])
def test_such_a_draw_is_found(text: str) -> None:
    assert drawn(ast.parse(text))
