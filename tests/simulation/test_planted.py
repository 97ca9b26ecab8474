"""The planted bugs can still be planted, and chosen. That each is found takes minutes: `make planted`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from simulation.planted import operators as do
from simulation.planted.__main__ import chosen
from simulation.planted.bug import bug
from simulation.planted.bugs import BUGS
from simulation.planted.places import Misplaced
from simulation.planted.planting import changed_modules, searched

pytestmark = pytest.mark.xdist_group("planted")  # on one worker, which changes each module once
BY_NAME = {planted.name: planted for planted in BUGS}


@cache
def changed(name: str) -> dict[Path, str]:
    return changed_modules(BY_NAME[name])


def misplaced() -> Iterator[str]:
    """Each bug that changes nothing, and what is wrong with each that can't be planted."""
    for planted in BUGS:
        try:
            if not changed(planted.name):
                yield f"{planted.name}: nothing changes"
        except Misplaced as exc:
            yield str(exc)


def test_each_bug_has_its_place_in_the_product() -> None:
    assert list(misplaced()) == []


def test_bugs_use_no_name_that_the_product_has_not(tmp_path: Path) -> None:
    """Such a bug would be found by its NameError, whatever the oracle looks at."""
    for number, planted in enumerate(BUGS):
        for file, text in changed(planted.name).items():
            (tmp_path / f"{number}_{file.name}").write_text(text, encoding="utf-8")
    command = [str(Path(sys.executable).parent / "ruff"), "check", "--isolated", "--select", "F821", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_planted_bug_is_found(tmp_path: Path) -> None:
    """One that everybody would find, to see that the oracle looks."""
    (planted,) = (each for each in BUGS if each.name == "a claim doesn't raise the fence")
    assert searched(planted, tmp_path, 20_000).seed is not None


def test_bugs_are_chosen_by_number_by_range_and_by_word() -> None:
    bugs = [bug("one"), bug("two", do.never("tail:ended", "x")), bug("three"), bug("four")]
    assert chosen([], bugs) == [1, 2, 3, 4]
    assert chosen(["4", "1-2"], bugs) == [1, 2, 4]
    assert chosen(["thre", "tail"], bugs) == [2, 3]
    with pytest.raises(ValueError, match="no bug is five"):
        chosen(["five"], bugs)
