"""Plants each bug, and says how soon it is found: ``python -m simulation.planted [NUMBER ...]``. ``STEPS`` bounds the
search."""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulation.planted.bugs import BUGS
from simulation.planted.planting import Search, searched

STEPS = int(os.environ.get("STEPS", "200000"))
AT_ONCE = 2


def search(number: int) -> bool:
    """Whether it was found, or is said to be harmless and wasn't."""
    bug = BUGS[number - 1]
    with tempfile.TemporaryDirectory() as folder:
        found = searched(bug, Path(folder), STEPS)
    print(f"{number:2d} {bug.name}: {_told(found)}", flush=True)
    if bug.harmless:
        print(f"   harmless: {bug.harmless}")
    return (found.seed is None) == bool(bug.harmless)


def _told(found: Search) -> str:
    if found.seed is None:
        return f"NOT FOUND in {found.steps} steps"
    return f"found after {found.steps} steps (seed {found.seed}): {found.what[:150]}"


def main() -> int:
    numbers = [int(each) for each in sys.argv[1:]] or list(range(1, len(BUGS) + 1))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(search, numbers))
    print(f"{sum(found)} of {len(found)} as expected")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
