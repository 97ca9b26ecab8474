"""No citation leads out of the repository, and each leads to something that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.citations import INVARIANTS, ROOT, problems_in, unproven

# The checker and its test show what is forbidden.
OWN = {ROOT / "tests/infra/citations.py", Path(__file__)}
PLACES = ("docs/**/*.md", "*.md", *(f"{each}/**/*.py" for each in ("functions", "layers", "tools", "tests")))
CODE = "layers/baton/python/baton/domain/tasks/task.py"
PAGE = "docs/spec/lifecycle.md"
SINGLE = ("template.yaml", "Makefile", "layers/compile.mk", "pyproject.toml")


def files() -> list[Path]:
    found = [path for place in PLACES for path in ROOT.glob(place)]
    return sorted({*found, *(ROOT / each for each in SINGLE)} - OWN)


def test_every_citation_leads_to_something_that_is_there() -> None:
    assert {INVARIANTS, ROOT / CODE, ROOT / "README.md"} <= set(files())
    broken = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in files()
        for problem in problems_in(path, path.read_text(encoding="utf-8"))
    ]
    assert broken == []


def test_every_invariant_names_its_code_and_its_tests() -> None:
    assert unproven(INVARIANTS.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (CODE, '"""Of a task (docs/spec/lifecycles.md §1)."""'),
        (CODE, '"""Of a task (docs/spec/lifecycle.md §1 to §99)."""'),
        (CODE, '"""Of a task (docs/spec/lifecycle.md\n§99)."""'),
        (CODE, "# Of a task (docs/spec/lifecycle.md\n# §99)."),
        (CODE, '"""Of a task (lifecycle §1)."""'),
        (CODE, '"""Of a task (spec/lifecycle.md §1)."""'),
        (CODE, '"""Of a task (truth 1)."""'),
        (CODE, '"""As the source\ndocument has it."""'),
        (CODE, '"""Of a task (DESIGN.md, Storage)."""'),
        (CODE, '"""Of a task (invariants 1 and 99)."""'),
        (CODE, '"""Of a task (decision 999)."""'),
        (CODE, '"""Of a task (services/no_such_use_case.py)."""'),
        (PAGE, "See [the marker](markers.md)."),
        (PAGE, "See [the marker](marker.md#4-another-heading)."),
        (PAGE, "See [marker §3](marker.md#4-circuit-breaker-and-cap)."),
        ("docs/decisions/003-claims-read-the-kill-switch.md", "As before (000 says why)."),
        ("docs/invariants.md", "Held by [task.py: no_such_rule](../layers/baton/python/baton/domain/tasks/task.py)."),
    ],
)
def test_a_broken_citation_is_noticed(path: str, text: str) -> None:
    assert problems_in(ROOT / path, text) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (CODE, '"""Of a task (docs/spec/lifecycle.md §1, §3 and §4; invariants 1 and 2, decision 014)."""'),
        (CODE, '"""Retry-After (RFC 9110 §10.2.3)."""'),
        (PAGE, "See [marker §4](marker.md#4-circuit-breaker-and-cap) and [the API](../openapi.json)."),
        (PAGE, "See [the field](https://example.com/spec/marker.md)."),
    ],
)
def test_a_citation_that_holds_is_none(path: str, text: str) -> None:
    assert problems_in(ROOT / path, text) == []


def test_an_invariant_that_nothing_proves_is_noticed() -> None:
    held = "## 1. One\n\nHeld by [task.py](../layers/baton/python/baton/domain/tasks/task.py).\n"
    assert unproven(held) == ["invariant 1. One: proven by nothing"]
    assert unproven("## 2. Two\n\nSo it is.\n") == [
        "invariant 2. Two: held by nothing",
        "invariant 2. Two: proven by nothing",
    ]
