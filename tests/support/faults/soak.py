"""The sizes of the largest tests: whole under ``make soak`` (``SOAK=1``), a tenth or less under ``make test``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
# What is played in place of each ten.
TENTH = 10
IS_WHOLE = bool(os.environ.get("SOAK"))


def scaled(whole: int, part: int = TENTH) -> int:
    """Returns ``whole`` under ``make soak``, else the tenth (or so) part of it."""
    return whole if IS_WHOLE else whole // part


def spread(whole: Sequence[T], every: int = TENTH) -> list[T]:
    """Returns all of ``whole`` under ``make soak``, else every tenth (or so), with the first and the last."""
    return list(whole) if IS_WHOLE else [*whole[:-1:every], whole[-1]]
