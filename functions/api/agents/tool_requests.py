"""What humans send about handoff tools."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from api.handoffs import requests
from baton.domain.agents.needs_approval import MIN_WITHIN_SECONDS, NeedsApproval
from baton.domain.agents.tool import (
    MAX_CHOICES,
    MAX_INSTRUCTIONS,
    MAX_TOOL_DESCRIPTION,
    MAX_VARIABLE_DESCRIPTION,
    MAX_VARIABLES,
    VARIABLE_PATTERN,
    History,
    ToolMode,
    ToolType,
    Variable,
    VariableType,
)
from baton.domain.questions.approvers import DEFAULT_ANSWER_SECONDS, MAX_ANSWER_SECONDS, MAX_NEEDED, MAX_PEOPLE
from rest import models


class VariableRequest(models.Body):
    """An argument for the target. ``enum``: its allowed values, each of its type; empty for any."""

    name: Annotated[str, StringConstraints(pattern=VARIABLE_PATTERN)]
    type: VariableType = VariableType.STRING
    required: bool = False
    description: Annotated[str, StringConstraints(max_length=MAX_VARIABLE_DESCRIPTION)] = ""
    enum: Annotated[tuple[Any, ...], models.few(MAX_CHOICES)] = ()

    def variable(self) -> Variable:
        return Variable(**dict(self))


class ToolConfigRequest(models.Part):
    """``target_agent``: a slug, name or alias; required at first. ``mode``: ``transfer`` hands the conversation to the
    target, ``delegate`` returns with the target's result. ``history``: the part of the conversation that the target
    sees."""

    target_agent: requests.Name = ""
    mode: ToolMode = ToolMode.TRANSFER
    context_variables: Annotated[tuple[VariableRequest, ...], models.few(MAX_VARIABLES)] = ()
    handoff_instructions: Annotated[str, StringConstraints(max_length=MAX_INSTRUCTIONS)] = ""
    history: History = History.FULL


class NeedsApprovalRequest(models.Body):
    """``people``, ``group``: who may approve; left out, any human. ``needed``: how many of them. ``not_author``:
    whoever made the task may not. ``within_seconds``: how long they have; a day if left out, at most 30 days."""

    people: Annotated[tuple[requests.Name, ...], models.few(MAX_PEOPLE)] = ()
    group: requests.Name | None = None
    needed: Annotated[int, Field(ge=1, le=MAX_NEEDED)] = 1
    not_author: bool = False
    within_seconds: Annotated[int, Field(ge=MIN_WITHIN_SECONDS, le=MAX_ANSWER_SECONDS)] = DEFAULT_ANSWER_SECONDS


class ToolRequest(models.Changes):
    """Fields left out keep their value, those of ``config`` too. ``needs_approval``: people approve each call before it
    is made (``{}``: any human); null ends that. ``active``: a tool that is switched off is offered to no model.
    ``version``: the version that the change is based on (0: must not exist yet); any other current version refuses it.
    ``target_version``: the same for its target."""

    type: ToolType = ToolType.HANDOFF
    description: Annotated[str, StringConstraints(max_length=MAX_TOOL_DESCRIPTION)] = ""
    config: ToolConfigRequest = ToolConfigRequest()
    active: bool = True
    needs_approval: NeedsApprovalRequest | None = None
    target_version: Annotated[int, Field(ge=1, lt=2**53)] = 1

    @property
    def seen_target(self) -> int | None:
        return self.target_version if "target_version" in self.model_fields_set else None

    def values(self) -> dict[str, Any]:
        """Returns the fields of the tool itself, those of ``config`` included."""
        given = {**self.given(), **self.config.given()}
        given.pop("config", None)
        given.pop("target_version", None)
        if "context_variables" in given:
            given["context_variables"] = tuple(each.variable() for each in self.config.context_variables)
        if "needs_approval" in given:
            mark = self.needs_approval
            given["needs_approval"] = None if mark is None else NeedsApproval(**dict(mark))
        return given


class DryRunRequest(models.Body):
    """``arguments``: as a model would give them."""

    arguments: Any = Field(default_factory=dict)
