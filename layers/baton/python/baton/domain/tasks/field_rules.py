"""What a field of a task is, said once where ``Task`` declares it: its form in JSON, who tells of it, and what it means
where it is left out. The trail and the item HEAD are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass
from enum import Enum, auto
from typing import Any


class Form(Enum):
    """What is written for a value, and so how it is read back."""

    TEXT = auto()
    TEXTS = auto()
    NUMBER = auto()
    TRUTH = auto()
    TIME = auto()
    DATE = auto()
    STATE = auto()
    PRIORITY = auto()
    RUNTIME = auto()
    FLAGS = auto()
    CLAIM = auto()
    WAIT = auto()


class Teller(Enum):
    """Who tells of a field."""

    EVENTS = auto()  # the trail: a replay rebuilds it
    HEAD = auto()  # the item HEAD only: bookkeeping
    NOBODY = auto()  # bookkeeping that HEAD has under other names, with a line of its own in ``items.task_from``


ALWAYS = object()  # in the place of ``unsaid``: the field is always written


@dataclass(frozen=True, slots=True)
class FieldRule:
    """``unsaid``: the value that isn't written, and that is meant wherever none is. Never changed: a default of
    ``Task`` may change one day, the meaning of what is stored may not. A new field joins with the value that it had in
    every earlier trail, or is always written."""

    teller: Teller
    form: Form | None = None
    unsaid: Any = ALWAYS


def told(form: Form, unsaid: Any = ALWAYS) -> dict[str, FieldRule]:
    """A field that events record."""
    return {"rule": FieldRule(Teller.EVENTS, form, unsaid)}


def kept(form: Form, unsaid: Any = ALWAYS) -> dict[str, FieldRule]:
    """Bookkeeping: a field of HEAD that no event records."""
    return {"rule": FieldRule(Teller.HEAD, form, unsaid)}


def kept_elsewhere() -> dict[str, FieldRule]:
    """Bookkeeping that HEAD has under other names."""
    return {"rule": FieldRule(Teller.NOBODY)}


def rules_of(declared: tuple[Field[Any], ...]) -> Mapping[str, FieldRule]:
    """Returns the rule of each field, by name. Raises ``TypeError`` for a field without one."""
    without = [each.name for each in declared if "rule" not in each.metadata]
    if without:
        names = ", ".join(without)
        raise TypeError(f"Task.{names} has no rule: say metadata=told(Form.…), kept(Form.…) or kept_elsewhere()")
    return {each.name: each.metadata["rule"] for each in declared}
