"""Handoff tools, and their form for a model (docs/spec/tools.md §1). A handoff tool is a human's standing approval of
its route: an agent with the tool may hand work off to the tool's target, and to no other agent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import is_known
from baton.domain.numbers import Number

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"
VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
MAX_TOOLS = 200
MAX_TOOLS_OF_AGENT = 30
MAX_VARIABLES = 30
MAX_CHOICES = 50
# Of one choice as JSON.
MAX_CHOICE_BYTES = 500
MAX_TOOL_DESCRIPTION = 2_000
MAX_INSTRUCTIONS = 4_000
MAX_VARIABLE_DESCRIPTION = 500
# Keys with this prefix are Baton's own.
RESERVED = "_"

Json = Any


class ToolType(StrEnum):
    HANDOFF = "handoff"


class ToolMode(StrEnum):
    """Whether the target takes the conversation over, or its result comes back to the caller."""

    TRANSFER = "transfer"
    DELEGATE = "delegate"


class History(StrEnum):
    """What the target sees of the conversation: all of it, its last turn, or only the user's message."""

    FULL = "full"
    LAST_MESSAGE = "last_message"
    NONE = "none"


class VariableType(StrEnum):
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"


_TYPE_CHECKS: Mapping[VariableType, Any] = {
    VariableType.STRING: lambda value: isinstance(value, str),
    # ``math.isfinite`` raises for an int that is too large for a float.
    VariableType.NUMBER: lambda value: (
        (isinstance(value, int | Number) and not isinstance(value, bool))
        or (isinstance(value, float) and math.isfinite(value))
    ),
    VariableType.BOOLEAN: lambda value: isinstance(value, bool),
    VariableType.OBJECT: lambda value: isinstance(value, dict),
    VariableType.ARRAY: lambda value: isinstance(value, list),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """An argument of a handoff tool."""

    name: str
    type: VariableType = VariableType.STRING
    required: bool = False
    description: str = ""
    enum: tuple[Json, ...] = ()  # the allowed values; empty allows every value of the type

    @property
    def schema(self) -> dict[str, Any]:
        described = {"description": self.description} if self.description else {}
        chosen = {"enum": list(self.enum)} if self.enum else {}
        return {"type": str(self.type), **described, **chosen}

    def problem(self, value: Json) -> str | None:
        """Returns what is wrong with the value, None if nothing is. A boolean is no number, and 1 isn't true."""
        if not _TYPE_CHECKS[self.type](value):
            return f"must be of type {self.type}"
        if self.enum and not any(type(each) is type(value) and each == value for each in self.enum):
            return "must be one of the values that are listed for it"
        return None


@dataclass(frozen=True, slots=True)
class Suspension:
    """Why a tool is suspended until a human confirms it: a service changed the tool's target."""

    target_agent: str
    by: str  # the service
    fields: tuple[str, ...]  # that it changed
    target_version: int  # the target's version now

    @property
    def reason(self) -> str:
        return f"is suspended: {self.by} changed its target {self.target_agent} ({', '.join(self.fields)})"


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    field: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A handoff tool."""

    workspace: str
    name: str
    type: ToolType = ToolType.HANDOFF
    description: str
    target_agent: str  # a slug
    mode: ToolMode = ToolMode.TRANSFER
    context_variables: tuple[Variable, ...] = ()
    handoff_instructions: str = ""
    history: History = History.FULL
    active: bool = True  # False: no model gets it
    needs_approval: NeedsApproval | None = None  # None: it is called without asking people
    version: int = 0
    created_at: datetime
    updated_at: datetime
    updated_by: str
    # The target's version that the human may have seen who defined the tool last; 0 for tools from before it was
    # stored.
    target_version: int = 0

    @property
    def is_transfer(self) -> bool:
        return self.mode is ToolMode.TRANSFER

    @property
    def spec(self) -> dict[str, Any]:
        """The tool as a model gets it. Every text in it is by the human who defined the tool."""
        properties = {each.name: each.schema for each in self.context_variables}
        required = [each.name for each in self.context_variables if each.required]
        needed = {"required": required} if required else {}
        schema = {"type": "object", "properties": properties, **needed, "additionalProperties": False}
        description = "\n\n".join(text for text in (self.description, self.handoff_instructions) if text)
        return {"name": self.name, "description": description, "input_schema": schema}

    @property
    def standing(self) -> dict[str, Any]:
        """The standing approval in the event's shape (invariant 8)."""
        return {"tool": self.name, "version": self.version, "given_by": self.updated_by}

    @property
    def is_understood(self) -> bool:
        """False for a tool that only a newer version of Baton can offer."""
        kinds = (self.type, self.mode, self.history, *(each.type for each in self.context_variables))
        return all(map(is_known, kinds))

    def suspended_by(self, target: Agent | None) -> Suspension | None:
        """Returns a suspension if a service changed the target after the version that the human saw (invariant 8)."""
        if target is None or target.service_version <= self.target_version:
            return None
        return Suspension(target.slug, target.service_by, target.service_fields, target.version)

    def problems(self, arguments: Json) -> tuple[ArgumentProblem, ...]:
        """Returns everything that is wrong with a call's arguments, so that a model can correct all of it at once."""
        if not isinstance(arguments, dict):
            return (ArgumentProblem("arguments", "must be an object"),)
        known = {each.name: each for each in self.context_variables}
        found = []
        for name, value in arguments.items():
            if name.startswith(RESERVED):
                found.append(ArgumentProblem(name, "is reserved: names that begin with _ are Baton's"))
            elif name not in known:
                takes = ", ".join(known) or "none"
                found.append(ArgumentProblem(name, f"isn't a variable of this tool, which takes: {takes}"))
            elif problem := known[name].problem(value):
                found.append(ArgumentProblem(name, problem))
        missing = [each.name for each in self.context_variables if each.required and each.name not in arguments]
        return (*found, *(ArgumentProblem(name, "is required") for name in missing))

    def changed(self, by: Principal, at: datetime, **values: Any) -> Tool:
        """Returns the next version. Raises ``HumanNeeded``: the tool approves the handoffs that are made with it."""
        by.must_be_human("define a handoff tool")
        return replace(self, **values, version=self.version + 1, updated_at=at, updated_by=by.key)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All tools of a workspace, by name."""

    tools: tuple[Tool, ...] = ()
    version: int = 0  # rises with every change of any tool

    def get(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


def undefined(name: str, by: Principal, at: datetime) -> Tool:
    """Returns the blank tool that a first definition fills in."""
    return Tool(
        workspace=by.workspace,
        name=name,
        description="",
        target_agent="",
        created_at=at,
        updated_at=at,
        updated_by=by.key,
    )


def check_tool(name: str, values: Mapping[str, Any]) -> None:
    """Raises ``InvalidInput`` for the first of the given values that is out of bounds."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise errors.InvalidInput("name", "must be a lower-case letter, then at most 63 letters, digits or underscores")
    if name in BUILT_IN:
        raise errors.InvalidInput("name", f"is one of Baton's own tools: {', '.join(BUILT_IN)}")
    variables: tuple[Variable, ...] = values.get("context_variables", ())
    names = [each.name for each in variables]
    if len(set(names)) < len(names):
        raise errors.InvalidInput("config.context_variables", "must each have a name of their own")
    for number, each in enumerate(variables):
        field = f"config.context_variables.{number}"
        if each.name.startswith(RESERVED):
            raise errors.InvalidInput(f"{field}.name", "must not begin with _: such keys are Baton's own")
        if any(not _TYPE_CHECKS[each.type](value) for value in each.enum):
            raise errors.InvalidInput(f"{field}.enum", f"must list values of type {each.type}")
        if any(len(canonical_json(value).encode()) > MAX_CHOICE_BYTES for value in each.enum):
            raise errors.InvalidInput(f"{field}.enum", f"must list values of at most {MAX_CHOICE_BYTES} bytes each")
