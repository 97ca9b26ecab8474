"""Plants each bug, and says how soon it is found: ``python -m simulation.planted [NUMBER ...]``. ``STEPS`` bounds the
search, instead of each bug's own bound."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulation.planted.bugs import BUGS
from simulation.planted.planting import Search, searched

STEPS = int(os.environ.get("STEPS") or 0) or None
AT_ONCE = 2


def search(number: int) -> bool:
    """Whether it was found, or is said to be harmless and wasn't."""
    bug, began = BUGS[number - 1], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = searched(bug, Path(folder), STEPS)
    print(f"{number:2d} {bug.name}: {_told(found)}, {time.monotonic() - began:.0f} s", flush=True)
    if bug.harmless:
        print(f"   harmless: {bug.harmless}")
    return (found.seed is None) == bool(bug.harmless)


def _told(found: Search) -> str:
    if found.seed is None:
        return f"NOT FOUND in {found.steps} steps"
    return f"found after {found.steps} steps (seed {found.seed}: {found.what[:100]})"


def main() -> int:
    numbers = [int(each) for each in sys.argv[1:]] or list(range(1, len(BUGS) + 1))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(search, numbers))
    print(f"{sum(found)} of {len(found)} as expected")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
