"""Requests to a model, as a run makes them."""

from __future__ import annotations

from typing import Any

from baton.ports.runs import ModelRequest

TRANSLATE = {
    "name": "handoff_to_translator",
    "description": "Hand the conversation to the translator.",
    "input_schema": {
        "type": "object",
        "properties": {"target_language": {"type": "string"}},
        "required": ["target_language"],
        "additionalProperties": False,
    },
}
ASK = {
    "name": "ask_researcher",
    "description": "",
    "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [_block(each) for each in blocks]}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [_block(each) for each in blocks]}


def call(call_id: str, name: str = "handoff_to_translator", **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def result(call_id: str, content: Any, status: str = "success") -> dict[str, Any]:
    said = {"text": content} if isinstance(content, str) else {"json": content}
    return {"toolResult": {"toolUseId": call_id, "content": [said], "status": status}}


def thought(text: str) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": {"text": text}}}


def a_request(*messages: dict[str, Any], **overrides: Any) -> ModelRequest:
    values: dict[str, Any] = {
        "system": "You translate.",
        "messages": list(messages) or [user("Bonjour?")],
        "tools": [],
        "model": "some-model",
        "max_tokens": 500,
        "seconds": 5.0,
        "workspace": "acme",
        "agent": "translator",
        "task_id": "task_01",
        "attempt": 1,
        "turn": 1,
    }
    return ModelRequest(**values | overrides)


def _block(said: Any) -> dict[str, Any]:
    return {"text": said} if isinstance(said, str) else said
