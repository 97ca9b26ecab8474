"""Ends a claim with the work done."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.claims.requests import MAX_REPORTS
from api.handoffs.requests import LEFT_OUT, Piece
from mcp_door.tools import claim_next
from mcp_door.tools.arguments import Arguments, merged
from mcp_door.tools.tool import FOR_WORKERS, McpTool, Said, ToolCall
from mcp_door.tools.tool_call_keys import key_under_claim
from mcp_door.tools.typed_texts import document_in
from rest import models

STORED_AS_JSON = "The output was a text with a JSON document. The document is stored, not the text."


class ReportArguments(Piece):
    criterion: str
    met: bool
    evidence: str = LEFT_OUT


class CompleteArguments(Arguments):
    task_id: str
    claim_id: str
    output: Annotated[Any, Field(description="any JSON")] = LEFT_OUT
    criteria: Annotated[
        tuple[ReportArguments, ...], models.few(MAX_REPORTS), Field(description="each criterion, by its exact text")
    ] = LEFT_OUT
    claim_next: bool = LEFT_OUT
    advanced: Annotated[dict[str, Any], Field(description="notes, deliverables, continuation")] = LEFT_OUT

    def body(self) -> dict[str, Any]:
        """Returns the body of POST /tasks/{task_id}/complete."""
        given = self.given()
        flat: dict[str, Any] = {name: given[name] for name in ("claim_id", "output", "claim_next") if name in given}
        if "criteria" in given:
            flat["verification"] = {"acceptance_criteria_met": given["criteria"]}
        return merged(given.get("advanced", {}), flat)


@partial(
    McpTool,
    arguments=CompleteArguments,
    answer=("state",),
    plays=("complete",),
    of=FOR_WORKERS,
    renamed={"verification.acceptance_criteria_met": "criteria"},
)
def complete(call: ToolCall[CompleteArguments]) -> Said:
    """End your claim: the work is done."""
    key = key_under_claim("complete", call.arguments.given())
    params, body = {"task_id": call.arguments.task_id}, call.arguments.body()
    document = document_in(body.get("output"))
    if document is not None:
        body["output"] = document.value
    said = ended(call.play("complete", body, params=params, key=key))
    return said if document is None else replace(said, lines=[*said.lines, STORED_AS_JSON])


def ended(task: dict[str, Any]) -> Said:
    """Returns the answer to a verb that ends a claim, with the claim that follows it."""
    lines = [f"{task['id']} is {task['state']}. Your claim on it is over."]
    data = {"task_id": task["id"], "state": task["state"]}
    if "next_claim" not in task:
        return Said(lines, "claim_next for more work", data)
    following = task["next_claim"]
    if following is None:
        return Said([*lines, "There is no further work now."], "claim_next later", {**data, "next_claim": None})
    lines += ["Claimed next:", *claim_next.claim_lines(following)]
    others = tuple(f"next_claim.{name}" for name in claim_next.OTHERS)
    data["next_claim"] = claim_next.claim_data(following)
    return Said(lines, claim_next.next_step(following), data, others)
