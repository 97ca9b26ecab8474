"""The planted bugs can still be planted. That each is found takes minutes: `make planted`."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulation.planted.bugs import BUGS, Bug
from simulation.planted.planting import misplaced, searched


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_has_its_place_in_the_product(bug: Bug) -> None:
    assert misplaced(bug) == []


def test_a_planted_bug_is_found(tmp_path: Path) -> None:
    """One that everybody would find, to see that the oracle looks."""
    (bug,) = (each for each in BUGS if each.name == "a claim doesn't raise the fence")
    assert searched(bug, tmp_path, 20_000).seed is not None
