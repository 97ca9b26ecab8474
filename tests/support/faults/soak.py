"""What `make test` leaves out of the largest tests, and `make soak` plays (`SOAK=1`): the rule, in one place.

`make test` plays each value of each dimension: each verb, state, fault, route. It thins sizes (`scaled`), long lists of
the same (`spread`), and the product of dimensions (`crossed`). Which part that is, is the same in every run. A module
with one of these, or with a helper that is marked as one of them (`thins`), belongs to `make soak` (tests/conftest.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import product
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
Cut = TypeVar("Cut", bound=Callable[..., Any])
# What is played in place of each ten.
TENTH = 10
IS_WHOLE = bool(os.environ.get("SOAK"))


def thins(cut: Cut) -> Cut:
    """Marks a function that leaves something out except under `make soak`."""
    cut.thins = True  # type: ignore[attr-defined]
    return cut


@thins
def scaled(whole: int, part: int = TENTH) -> int:
    """Returns ``whole`` under ``make soak``, else the tenth (or so) part of it."""
    return whole if IS_WHOLE else whole // part


@thins
def spread(whole: Sequence[T], every: int = TENTH) -> list[T]:
    """Returns all of ``whole`` under ``make soak``, else every tenth (or so), with the first and the last."""
    return list(whole) if IS_WHOLE else [*whole[:-1:every], whole[-1]]


@thins
def crossed(*dimensions: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Returns the product of the dimensions under ``make soak``, else as many of it as the longest has values: each
    value of each dimension, with others of the other dimensions from one time to the next."""
    if IS_WHOLE:
        return list(product(*dimensions))
    longest = max(map(len, dimensions))
    return [tuple(each[number % len(each)] for each in dimensions) for number in range(longest)]


def has_sizes(module: ModuleType) -> bool:
    """Does the module leave something out?"""
    named = vars(module)
    return "IS_WHOLE" in named or any("thins" in getattr(each, "__dict__", ()) for each in named.values())
