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
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent, standing_of
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.canonical_json import canonical_json
from baton.domain.look_alikes import look
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
# Fields of a tool that its standing approval covers.
COVERED = (
    "target_agent",
    "mode",
    "needs_approval",
    "handoff_instructions",
    "context_variables",
    "history",
)
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
    """Why a tool is suspended until an approver confirms it: a service or a member changed the tool's target, or a
    person without the right to approve defined, changed or switched off the tool. An approver confirms that by naming
    the target."""

    target_agent: str
    by: str  # who changed the target, or the tool last
    fields: tuple[str, ...]  # of the target that were changed; empty if it was the tool
    target_version: int  # the target's version now

    @property
    def reason(self) -> str:
        if not self.fields:
            return f"is suspended: no approver has confirmed its target {self.target_agent} since a member edited it"
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
    # The approver of the tool's route, and the time. None: an earlier release stored neither, and its last editor
    # counts.
    approval_given_by: str | None = None
    approval_given_at: datetime | None = None

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
    def approval_giver(self) -> str:
        """The key of the human who approved the tool; empty if a person without the right defined it or edited it
        since."""
        return self.updated_by if self.approval_given_by is None else self.approval_given_by

    @property
    def standing(self) -> dict[str, Any] | None:
        """The standing approval in the event's shape (invariant 8); None if no person with the right gave one."""
        if not self.approval_giver:
            return None
        return standing_of("tool", self.name, self.version, self.approval_giver, self.approval_given_at)

    @property
    def is_understood(self) -> bool:
        """False for a tool that only a newer version of Baton can offer."""
        kinds = (self.type, self.mode, self.history, *(each.type for each in self.context_variables))
        return all(map(is_known, kinds))

    def suspended_by(self, target: Agent | None) -> Suspension | None:
        """Returns a suspension if no person with the right approved the tool as it is, or if a service or a member
        changed the target after the version that the human saw."""
        if target is None:
            return None
        if not self.approval_giver:
            return Suspension(target.slug, self.updated_by, (), target.version)
        if not self.is_outdated(target):
            return None
        return Suspension(target.slug, target.service_by, target.service_fields, target.version)

    def is_outdated(self, target: Agent) -> bool:
        """True if a service or a member changed the target after the version that the human saw."""
        return target.service_version > self.target_version

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

    def changed(self, by: Principal, at: datetime, *, resumes: bool = False, **values: Any) -> Tool:
        """Returns the next version. The tool approves the handoffs that are made with it, for the person who gave that
        approval: the last one with the right who changed ``COVERED``, resumed the tool, or named its target while it
        had no approval. A person without the right switches an approved tool off, which ends the approval, and changes
        nothing else of it.

        Raises:
            HumanNeeded, RightNeeded: a person without the right changes an approved tool. Or a person below
                administrator changes a ``needs_approval`` that not every approver could meet alone.
        """
        by.must_have(Deed.DEFINE_TOOL)
        after = replace(self, **values)
        off = replace(self, active=False, target_version=after.target_version)
        if self.version and self.approval_giver and after != off:
            by.must_have(Deed.CHANGE_TOOL)
        if self.needs_approval and self.needs_approval.forbids(after.needs_approval):
            by.must_have(Deed.CHANGE_MARK)
        after = replace(after, version=self.version + 1, updated_at=at, updated_by=by.key)
        if not by.may_do(Deed.GIVE_STANDING_APPROVAL):
            return replace(after, approval_given_by="", approval_given_at=None)
        is_changed = any(getattr(after, name) != getattr(self, name) for name in COVERED)
        is_given = self.version == 0 or resumes or is_changed if self.approval_giver else "target_agent" in values
        if is_given:
            return replace(after, approval_given_by=by.key, approval_given_at=at)
        return replace(after, approval_given_by=self.approval_giver)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All tools of a workspace, by name."""

    tools: tuple[Tool, ...] = ()
    version: int = 0  # rises with every change of any tool

    def get(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def must_be_readable(self, before: Tool, variables: tuple[Variable, ...]) -> None:
        """Raises ``InvalidInput`` for a new tool with a name that looks like another tool's, and for new variables of
        ``before`` with names that look alike."""
        alike = next((each.name for each in self.tools if look(each.name) == look(before.name)), None)
        if before.version == 0 and alike is not None:
            raise errors.InvalidInput("name", f"looks like the name of the tool {alike!r}: choose another name")
        looks: dict[str, str] = {}
        for each in () if variables == before.context_variables else variables:
            if (other := looks.setdefault(look(each.name), each.name)) != each.name:
                raise errors.InvalidInput("config.context_variables", f"{other!r} and {each.name!r} look alike")


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
