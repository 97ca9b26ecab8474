"""What is stored, answered, sent and asked in every scenario is, to the byte, what its file says.

``WRITE_GOLDEN=1 pytest tests/golden`` writes the files anew: for a change that is meant to show, and for nothing else.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from golden.environment import Environment
from golden.play import Play
from golden.readable import written

HERE = Path(__file__).parent
FILES = HERE / "files"
MOST_LINES = 200
WHAT_TO_DO = "If that is meant to show: WRITE_GOLDEN=1 pytest tests/golden tests/functions/cli, and read the diff."


def scenarios_in(module: ModuleType) -> dict[str, Callable[[Play], None]]:
    return {
        name: act
        for name, act in vars(module).items()
        if callable(act) and getattr(act, "__module__", "") == module.__name__ and not name.startswith("_")
    }


MODULES = sorted(path.stem for path in (HERE / "scenarios").glob("[a-z]*.py"))
SCENARIOS = {
    name: act for module in MODULES for name, act in scenarios_in(import_module(f"golden.scenarios.{module}")).items()
}


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    environment = Environment(monkeypatch)
    yield Play(environment)
    environment.leave()


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_is_as_its_golden_file_says(name: str, play: Play) -> None:
    SCENARIOS[name](play)
    told, file = written(play.told()), FILES / f"{name}.json"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(told, encoding="utf-8")
        return
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    if told != kept:
        lines = difflib.unified_diff(
            kept.splitlines(), told.splitlines(), f"files/{file.name}", "now", lineterm="", n=5
        )
        pytest.fail("\n".join([*list(lines)[:MOST_LINES], WHAT_TO_DO]), pytrace=False)
