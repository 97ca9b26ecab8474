"""Nothing that `make test` leaves out is outside of `make soak`."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from infra.citations import ROOT
from support.faults import soak

TESTS = ROOT / "tests"
RULE = "support.faults.soak"
CUTS = {name for name, each in vars(soak).items() if getattr(each, "thins", False)} | {"IS_WHOLE"}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PLAYED = set(
    re.findall(r"tests/(\w+)", " ".join(re.findall(r"^(?:covered|with_sizes) := (.*)$", MAKEFILE, re.MULTILINE)))
)


def imported(text: str) -> set[tuple[str, str]]:
    """Returns what a file with this text takes from other modules, by their names."""
    found = ast.walk(ast.parse(text))
    return {(each.module or "", name.name) for each in found if isinstance(each, ast.ImportFrom) for name in each.names}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(TESTS).with_suffix("").parts)


@cache
def thinned() -> set[Path]:
    """Returns the files that leave something out, by the rule or by a helper that does. Only those that have the name
    of a module in their text are parsed."""
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    found = {path for path, text in texts.items() if RULE in text and {(RULE, each) for each in CUTS} & imported(text)}
    helpers = {module_of(path) for path in found if not path.name.startswith("test_")}
    near = (path for path, text in texts.items() if any(each in text for each in helpers))
    return found | {path for path in near if helpers & {module for module, _ in imported(texts[path])}}


def test_what_is_thinned_is_found() -> None:
    found = {path.relative_to(TESTS).as_posix() for path in thinned()}
    assert {"fuzz/test_fuzz.py", "faults/test_run_crashes.py", "contract/test_third_opinion.py"} <= found
    assert "unit/tasks/test_transition_table.py" not in found


def test_soak_plays_each_folder_with_something_thinned() -> None:
    of_tests = {path for path in thinned() if path.name.startswith("test_")}
    assert {path.relative_to(TESTS).parts[0] for path in of_tests} <= PLAYED


def test_a_test_of_a_thinned_file_is_in_soak(request: pytest.FixtureRequest) -> None:
    """Of those that this run has collected."""
    files = thinned()
    left_out = [
        item.nodeid for item in request.session.items if item.path in files and item.get_closest_marker("soak") is None
    ]
    assert left_out == []


@pytest.mark.parametrize("lengths", [(1, 4), (3, 5), (5, 3), (2, 2, 7)])
def test_each_value_of_each_dimension_is_played(lengths: tuple[int, ...]) -> None:
    dimensions = [range(each) for each in lengths]
    played = soak.crossed(*dimensions)
    assert len(played) == len(set(played)) == max(lengths) or soak.IS_WHOLE
    for dimension, values in zip(dimensions, zip(*played, strict=True), strict=True):
        assert {*values} == {*dimension}
