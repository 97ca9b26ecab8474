"""Baton's own tools, as a model sees them. With them an agent ends its own task or saves a checkpoint
(docs/spec/tools.md §3): they do the same as a worker's calls to the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Characters of any one text among the arguments, the output excepted: the API's limit.
MAX_WORDS = 2_000
COMPLETE_TASK, FAIL_TASK, SAVE_CHECKPOINT = "complete_task", "fail_task", "save_checkpoint"
BUILT_IN: Mapping[str, dict[str, Any]] = {
    COMPLETE_TASK: {
        "name": COMPLETE_TASK,
        "description": "Ends your task with its result. Every acceptance criterion that your task names needs a report "
        "with evidence for whether it is met.",
        "input_schema": {
            "type": "object",
            "properties": {
                "output": {"description": "The result, as text or as JSON."},
                "notes": {"type": "array", "items": {"type": "string"}, "description": "What others should know."},
                "acceptance_criteria_met": {
                    "type": "array",
                    "description": "One report per acceptance criterion, each with the criterion's exact words.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "criterion": {"type": "string"},
                            "met": {"type": "boolean"},
                            "evidence": {"type": "string"},
                        },
                        "required": ["criterion", "met", "evidence"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["output"],
            "additionalProperties": False,
        },
    },
    FAIL_TASK: {
        "name": FAIL_TASK,
        "description": "Ends your task without a result, and says what stands in the way.",
        "input_schema": {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "What went wrong."},
                "blockers": {"type": "array", "items": {"type": "string"}},
                "questions": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["description"],
            "additionalProperties": False,
        },
    },
    SAVE_CHECKPOINT: {
        "name": SAVE_CHECKPOINT,
        "description": "Keeps a state of your work from which it can go on should it be interrupted.",
        "input_schema": {
            "type": "object",
            "properties": {"step_name": {"type": "string", "maxLength": 100}, "state": {"type": "object"}},
            "required": ["step_name", "state"],
            "additionalProperties": False,
        },
    },
}


def problem_of(name: str, arguments: Mapping[str, Any]) -> str | None:
    """Returns what is wrong with the arguments of a built-in tool, None if nothing is."""
    schema = BUILT_IN[name]["input_schema"]
    unknown = sorted(set(arguments) - set(schema["properties"]))
    if unknown:
        return f"{unknown[0][:64]} isn't an argument of this tool"
    for field in schema["required"]:
        if field not in arguments:
            return f"{field} is required"
    for field, value in arguments.items():
        problem = _schema_problem(schema["properties"][field], value, field)
        if problem:
            return problem
    return None


_TYPE_CHECKS: Mapping[str, Any] = {
    "string": lambda value: isinstance(value, str) and value.strip(),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list) and len(value) <= 100,
}


def _schema_problem(schema: Mapping[str, Any], value: Any, at: str) -> str | None:
    type_ = schema.get("type")
    if type_ is not None and not _TYPE_CHECKS[type_](value):
        return f"{at} must be of type {type_}"
    if type_ == "string" and len(value) > (most := schema.get("maxLength", MAX_WORDS)):
        return f"{at} must have at most {most} characters"
    for number, each in enumerate(value if type_ == "array" else ()):
        if problem := _schema_problem(schema["items"], each, f"{at}.{number}"):
            return problem
    if type_ == "object" and "properties" in schema:
        if set(value) != set(schema["required"]):
            return f"{at} must have exactly: {', '.join(schema['required'])}"
        for name, inner in schema["properties"].items():
            if problem := _schema_problem(inner, value[name], f"{at}.{name}"):
                return problem
    return None
