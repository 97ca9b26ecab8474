"""The sizes of the largest tests: ``make soak`` plays them whole (``SOAK=1``), ``make test`` a tenth of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
# What is played in place of each ten.
TENTH = 10
IS_WHOLE = bool(os.environ.get("SOAK"))


def scaled(whole: int) -> int:
    """Returns ``whole`` under ``make soak``, else a tenth of it."""
    return whole if IS_WHOLE else whole // TENTH


def spread(whole: Sequence[T], every: int = TENTH) -> list[T]:
    """Returns all of ``whole`` under ``make soak``, else every tenth (or so), with the first and the last."""
    return list(whole) if IS_WHOLE else [*whole[:-1:every], whole[-1]]
