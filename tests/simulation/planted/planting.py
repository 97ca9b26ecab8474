"""A copy of the product with one bug in it, and how soon the simulation finds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import baton

if TYPE_CHECKING:
    from simulation.planted.bugs import Bug

PRODUCT = Path(baton.__file__).parent
TESTS = Path(__file__).parents[2]
_FOUND = re.compile(r"^seed (\d+) step (\d+): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Search:
    """``seed`` and ``what``: of the first violation, None if none was found in so many ``steps``."""

    steps: int
    seed: int | None = None
    what: str = ""


def misplaced(bug: Bug) -> list[str]:
    """The files in which the bug's place isn't found exactly once: the product has changed there."""
    return [edit.file for edit in bug.edits if (PRODUCT / edit.file).read_text(encoding="utf-8").count(edit.old) != 1]


def planted(bug: Bug, folder: Path) -> Path:
    """What has to come first on the path."""
    copy = folder / "baton"
    shutil.copytree(PRODUCT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for edit in bug.edits:
        file = copy / edit.file
        text = file.read_text(encoding="utf-8")
        if text.count(edit.old) != 1:
            raise ValueError(f"{bug.name}: {edit.file} has changed where the bug is planted")
        file.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    return folder


def searched(bug: Bug, folder: Path, most_steps: int | None = None) -> Search:
    """From seed 1, within as many steps as the bug names, unless it is said."""
    paths = os.pathsep.join([str(planted(bug, folder)), str(TESTS)])
    habits = json.dumps(bug.habits)
    asked = ["run", "--seed", "1", "--steps", str(most_steps or bug.steps), "--first"]
    command = [sys.executable, "-m", "simulation", "--set", habits, *asked]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise ValueError(f"{bug.name}: {done.stderr[-2000:]}")
    found = _FOUND.search(done.stdout)
    total = int(json.loads(done.stdout.strip().splitlines()[-1])["steps"])
    return Search(total, int(found[1]), found[3]) if found else Search(total)
