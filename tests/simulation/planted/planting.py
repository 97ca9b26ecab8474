"""A copy of the product with one bug in it, and how soon the simulation finds it."""

from __future__ import annotations

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from simulation.habits import Focus
from simulation.planted.places import FUNCTIONS, REPOSITORY, Misplaced, file_of, root_of, scope_of

if TYPE_CHECKING:
    from simulation.planted.bug import Bug

TESTS = Path(__file__).parents[2]
ASKING = (Focus.QUESTIONS, Focus.TRUST)
_FOUND = re.compile(r"^seed (\d+) step (\d+): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Search:
    """``seed`` and ``what``: of the first violation, None if none was found in so many ``steps``."""

    steps: int
    seed: int | None = None
    what: str = ""


def changed_modules(bug: Bug) -> dict[Path, str]:
    """Returns the text of each module that the bug changes, by its path. Raises ``Misplaced``."""
    modules: dict[Path, ast.Module] = {}
    for operator in bug.operators:
        try:
            file = file_of(operator.place)
            module = modules.setdefault(file, _parsed(file))
            scope = scope_of(module, operator.place)
            before = ast.dump(scope.node)
            operator.apply(scope)
            ast.fix_missing_locations(scope.node)
        except Misplaced as exc:
            raise Misplaced(f"{bug.name}: {operator.place}: {exc}") from exc
        if ast.dump(scope.node) == before:
            raise Misplaced(f"{bug.name}: {operator.place}: nothing changes")
    return {file: ast.unparse(module) for file, module in modules.items()}


def _parsed(file: Path) -> ast.Module:
    module: ast.Module = pickle.loads(_pickled(file))
    return module


@cache
def _pickled(file: Path) -> bytes:
    """Read again it is a copy, in a fraction of the time that parsing takes."""
    return pickle.dumps(ast.parse(file.read_text(encoding="utf-8")))


def planted(bug: Bug, folder: Path) -> list[Path]:
    """Returns the folders that have to come first on the path."""
    copies: dict[Path, Path] = {}
    for file, text in changed_modules(bug).items():
        root = root_of(file)
        if root not in copies:
            copies[root] = folder / str(len(copies))
            shutil.copytree(root, copies[root], ignore=shutil.ignore_patterns("__pycache__"))
        (copies[root] / file.relative_to(root)).write_text(text, encoding="utf-8")
    return list(copies.values())


def searched(bug: Bug, folder: Path, most_steps: int | None = None) -> Search:
    """Searches from seed 1, within as many steps as the bug names, unless ``most_steps`` is given. No worker asks
    people, and no actor attacks, unless the bug is about that: so its bound is valid."""
    paths = os.pathsep.join(map(str, [*planted(bug, folder), TESTS, FUNCTIONS]))
    focus = bug.habits.get("focus")
    usual = {"has_questions": focus in ASKING, "has_trust": focus is Focus.TRUST}
    habits = json.dumps({**usual, **bug.habits})
    asked = ["run", "--seed", "1", "--steps", str(most_steps or bug.steps), "--first"]
    command = [sys.executable, "-m", "simulation", "--set", habits, *asked]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise ValueError(f"{bug.name}: {done.stderr[-2000:]}")
    found = _FOUND.search(done.stdout)
    total = int(json.loads(done.stdout.strip().splitlines()[-1])["steps"])
    return Search(total, int(found[1]), found[3]) if found else Search(total)


def fails(bug: Bug, folder: Path) -> bool:
    """True if the bug's test fails with the bug. The test itself is part of the usual suites, and passes without."""
    usual = [*sorted(REPOSITORY.glob("packages/*/src")), REPOSITORY / "cli/src", FUNCTIONS, TESTS, REPOSITORY]
    paths = " ".join(map(str, [*planted(bug, folder), *usual]))
    asked = ["-q", "-x", "--no-cov", "-p", "no:cacheprovider", "-o", f"pythonpath={paths}", bug.test]
    command = [sys.executable, "-m", "pytest", *asked]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"{bug.name}: {done.stdout[-2000:]}")
    return done.returncode == 1
