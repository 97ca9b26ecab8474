"""The same dice for every test: which call a fault meets is the test's to say."""

from __future__ import annotations

import random

import pytest


@pytest.fixture(autouse=True)
def same_dice() -> None:
    random.seed(7)
