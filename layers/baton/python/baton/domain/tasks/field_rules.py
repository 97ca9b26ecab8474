"""What a field of a task is, said once where it is declared: its form, and what it means where it is left out. The
trail and the item HEAD are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from enum import Enum, auto
from typing import Any


class Form(Enum):
    """What is written for a value, and so how it is read back."""

    TEXT = auto()
    TEXTS = auto()
    READY_APPROVALS = auto()
    NUMBER = auto()
    TRUTH = auto()
    TIME = auto()
    DATE = auto()
    DIGEST = auto()
    STATE = auto()
    PRIORITY = auto()
    RUNTIME = auto()
    FLAGS = auto()
    CLAIM = auto()
    WAIT = auto()
    QUESTIONS = auto()
    APPROVAL = auto()


ALWAYS = object()  # in the place of ``unsaid``: the field is always written


@dataclass(frozen=True, slots=True)
class FieldRule:
    """``unsaid``: the value that isn't written, and that is meant wherever none is. Never changed: a default of
    ``Task`` may change one day, the meaning of what is stored may not. A new field joins with the value that it had in
    every earlier trail, or is always written."""

    form: Form
    unsaid: Any = ALWAYS


def stored(form: Form, unsaid: Any = ALWAYS) -> dict[str, FieldRule]:
    """Returns a field's metadata."""
    return {"rule": FieldRule(form, unsaid)}


def optional(form: Form, unsaid: Any) -> Any:
    """Returns a field whose default isn't written."""
    return field(default=unsaid, metadata=stored(form, unsaid))


def rules_of(declared: tuple[Field[Any], ...]) -> Mapping[str, FieldRule]:
    """Returns the rule of each field that has one, by name."""
    return {each.name: each.metadata["rule"] for each in declared if "rule" in each.metadata}
