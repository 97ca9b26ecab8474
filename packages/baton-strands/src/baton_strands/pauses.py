"""Where a tool pauses its agent. An interrupt of Strands carries the ``Call``, and comes back with the ``Outcome``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from strands import Agent, Snapshot, ToolContext
from strands.types.interrupt import InterruptResponseContent
from strands.types.session import decode_bytes_values, encode_bytes_values

from baton_client import Call, Outcome


def call_id(context: ToolContext[Any]) -> str:
    """Returns the same id for a call in any process. The model's own may come twice, or be none that Baton takes."""
    messages, use = context.agent.messages, context.tool_use
    said_in = messages[-1].get("tracking_id", "") if messages else ""
    return "baton-" + _id(json.dumps([said_in, use["toolUseId"], use["name"], use["input"]]))


def paused(context: ToolContext[Any], call: Callable[[str], Call]) -> Outcome:
    """Pauses the run. Strands runs the tool again from its beginning once there is an outcome: nothing comes before."""
    key = call_id(context)
    return Outcome(**context.interrupt(key, reason=asdict(call(key))))


def saved(agent: Agent) -> str:
    """Returns the agent's session as JSON in a text, which may hold what a body of Baton's mustn't."""
    return json.dumps(encode_bytes_values(agent.take_snapshot(preset="session").to_dict()), default=str)


def restore(agent: Agent, state: str) -> None:
    agent.load_snapshot(Snapshot.from_dict(decode_bytes_values(json.loads(state))))


def pending(state: str) -> dict[str, Call]:
    """Returns what a saved run waits for, by its interrupts' ids. An interrupt that is the user's own asks people."""
    interrupts: dict[str, dict[str, Any]] = json.loads(state)["data"]["interrupt_state"]["interrupts"]
    return {key: _call(key, each) for key, each in interrupts.items() if each["response"] is None}


def answers(state: str, outcomes: Mapping[str, Outcome]) -> list[InterruptResponseContent]:
    """Returns the prompt that a saved run goes on with. An interrupt of the user's own gets the answer alone."""
    found: list[InterruptResponseContent] = []
    for key, call in pending(state).items():
        outcome = outcomes[call.call_id]
        response: Any = asdict(outcome) if call.call_id.startswith("baton-") else outcome.value or outcome.said
        found.append({"interruptResponse": {"interruptId": key, "response": response}})
    return found


def _call(key: str, interrupt: dict[str, Any]) -> Call:
    if interrupt["name"].startswith("baton-"):
        return Call(**interrupt["reason"])
    return Call.ask(_id(key), f"{interrupt['name']}: {interrupt['reason']}")


def _id(text: str) -> str:
    return uuid5(NAMESPACE_OID, text).hex
