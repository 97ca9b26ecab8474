"""The planted bugs can still be planted. That each is found takes minutes: `make planted`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simulation.planted.bug import Bug
from simulation.planted.bugs import BUGS
from simulation.planted.planting import changed_modules, searched


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_has_its_place_in_the_product(bug: Bug) -> None:
    assert changed_modules(bug)


def test_bugs_use_no_name_that_the_product_has_not(tmp_path: Path) -> None:
    """Such a bug would be found by its NameError, whatever the oracle looks at."""
    for number, bug in enumerate(BUGS):
        for file, text in changed_modules(bug).items():
            (tmp_path / f"{number}_{file.name}").write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).parent / "ruff"), "check", "--isolated", "--select", "F821", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_planted_bug_is_found(tmp_path: Path) -> None:
    """One that everybody would find, to see that the oracle looks."""
    (bug,) = (each for each in BUGS if each.name == "a claim doesn't raise the fence")
    assert searched(bug, tmp_path, 20_000).seed is not None
