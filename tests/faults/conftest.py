"""One emulated table per module, and the same dice for every test: which call a fault meets is the test's to say."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from support.emulator import Emulator, emulator


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with emulator() as started:
        yield started


@pytest.fixture(autouse=True)
def same_dice() -> None:
    random.seed(7)
