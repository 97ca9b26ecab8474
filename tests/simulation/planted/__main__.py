"""Plants each bug, and says how soon it is found: ``python -m simulation.planted [WHICH ...]``. ``WHICH`` is a number,
several as ``12-20``, or a word of a bug's name or place; without any, all are planted. ``STEPS`` bounds the search,
instead of each bug's own bound. ``PROCESSES`` play at once."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from simulation.planted.bug import Bug
from simulation.planted.bugs import BUGS
from simulation.planted.planting import Search, fails, searched

STEPS = int(os.environ.get("STEPS") or 0) or None
AT_ONCE = int(os.environ.get("PROCESSES") or 2)
_NUMBERS = re.compile(r"(\d+)(?:-(\d+))?")


def search(number: int) -> bool:
    """Whether it was found, or is said to be harmless and wasn't."""
    bug, began = BUGS[number - 1], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if bug.test:
            is_found = fails(bug, Path(folder))
            print(f"{number:3d} {bug.name}: {'found by' if is_found else 'NOT FOUND by'} {bug.test}", flush=True)
            return is_found
        found = searched(bug, Path(folder), STEPS)
    print(f"{number:3d} {bug.name}: {_told(found)}, {time.monotonic() - began:.0f} s", flush=True)
    if bug.harmless:
        print(f"    harmless: {bug.harmless}")
    return (found.seed is None) == bool(bug.harmless)


def chosen(which: Sequence[str], bugs: Sequence[Bug] = BUGS) -> list[int]:
    """Returns the numbers of the bugs, in their order. Raises ``ValueError`` for what chooses none."""
    every = range(1, len(bugs) + 1)
    numbers = {each: {number for number in every if _is_chosen(each, number, bugs[number - 1])} for each in which}
    for each, found in numbers.items():
        if not found:
            raise ValueError(f"no bug is {each}")
    return sorted(set().union(*numbers.values())) if which else list(every)


def _is_chosen(which: str, number: int, bug: Bug) -> bool:
    if numbers := _NUMBERS.fullmatch(which):
        return int(numbers[1]) <= number <= int(numbers[2] or numbers[1])
    return any(which in each for each in (bug.name, *(operator.place for operator in bug.operators)))


def _told(found: Search) -> str:
    if found.seed is None:
        return f"NOT FOUND in {found.steps} steps"
    return f"found after {found.steps} steps (seed {found.seed}: {found.what[:100]})"


def main() -> int:
    numbers = chosen(sys.argv[1:])
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(search, numbers))
    print(f"{sum(found)} of {len(found)} as expected")
    if wrong := [number for number, is_right in zip(numbers, found, strict=True) if not is_right]:
        print(f"not as expected: {' '.join(map(str, wrong))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
