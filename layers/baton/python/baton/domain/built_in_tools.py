"""Tools that Baton has itself, as a model sees them. An agent that is given them may end its own task, or keep where it
stands (spec/tools.md §3): what they do is what the same words of a worker do over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of any one text among their arguments, but for the result itself: as over the API.
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
