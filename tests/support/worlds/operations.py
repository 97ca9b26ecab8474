"""Every route of docs/openapi.json with a valid request to it. A new route is covered by itself."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from support.values.bodies import QUERIES
from support.worlds.deployed import CANARY
from support.worlds.tenant import Tenant, marker_body

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))

Schema = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """One method of one path of docs/openapi.json."""

    method: str
    path: str
    told: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def id(self) -> str:
        return str(self.told["operationId"])

    @property
    def needs_token(self) -> bool:
        return self.told.get("security") != []

    @property
    def is_door(self) -> bool:
        """True for the door for models, where a wrong body is an error of the protocol."""
        return self.path == "/mcp"

    @property
    def is_for_humans(self) -> bool:
        return re.search(r"For humans with the right `\w+` only\.", self.told.get("description", "")) is not None

    @property
    def is_closed_to_agents(self) -> bool:
        return "For humans " in self.told.get("description", "")

    @property
    def takes_key(self) -> bool:
        """True if it takes the header Idempotency-Key."""
        return "Idempotency-Key" in self.parameters("header")

    @property
    def has_ids(self) -> bool:
        return "{" in self.path

    @property
    def takes_new_names(self) -> bool:
        """True if its path may name what doesn't exist: a malformed name is refused, and no name is unknown."""
        return self.method == "PUT" or self.path.endswith("/preview")

    def parameters(self, where: str) -> dict[str, Schema]:
        """Returns name → schema of the parameters in ``path``, ``query`` or ``header``."""
        found = map(resolved, self.told.get("parameters", []))
        return {each["name"]: each["schema"] for each in found if each["in"] == where}

    @property
    def body(self) -> Schema | None:
        """Returns the schema of the body; None if the route takes none."""
        request = self.told.get("requestBody")
        return None if request is None else resolved(request["content"]["application/json"]["schema"])


def resolved(schema: Schema) -> Schema:
    """Returns the schema that a ``$ref`` stands for."""
    if "$ref" not in schema:
        return schema
    found: Any = DOCUMENT
    for part in schema["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return resolved(found)


METHODS = {"get", "put", "post", "delete", "patch"}
OPERATIONS = [
    Operation(method.upper(), path, told)
    for path, methods in DOCUMENT["paths"].items()
    for method, told in methods.items()
    if method in METHODS
]
WITH_TOKEN = [each for each in OPERATIONS if each.needs_token]
WITH_BODY = [each for each in WITH_TOKEN if each.body is not None and not each.is_door]


# Operations on a task that somebody holds.
WORKER_VERBS = (
    *("heartbeat", "checkpoint", "note", "complete", "fail", "reject", "release", "transfer", "delegate"),
    *("wait_for_a_callback", "ask_people", "wait_answers", "use_an_approval", "run_state"),
)


@dataclass
class OperationsWorld:
    """A workspace with one of everything. Each route's request finds its task in the right state."""

    tenant: Tenant

    @cached_property
    def claim(self) -> dict[str, Any]:
        return self.tenant.claim(self._ready("source-0"), lease_seconds=43_200)

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Operation → the task that its path names."""
        held = self.claim["task"]["id"]
        undoable = self.tenant.approved(source_agent="source-1")
        ready, next_ = self._ready("source-2"), self._ready("source-3")
        return {
            "undo": undoable,
            "claim": ready,
            "claim_the_next": next_,
            **dict.fromkeys(WORKER_VERBS, held),
        }

    @cached_property
    def needing(self) -> str:
        return self.tenant.needing()

    @cached_property
    def handed(self) -> dict[str, Any]:
        """Returns the task of a handoff."""
        told: dict[str, Any] = self.tenant.human.get(f"/tasks/{self.needing}")
        return told

    @cached_property
    def review(self) -> str:
        """Returns the manual review of a direction at its cap."""
        for _ in range(2):
            task_id = self.tenant.approved(source_agent="source-4")
            self.tenant.human.post(f"/tasks/{task_id}/cancel")
        assert self.tenant.mark(self.tenant.human, source_agent="source-4")["escalation_capped"]
        review_id: str = self.tenant.human.get("/manual-reviews")["items"][0]["id"]
        return review_id

    @cached_property
    def token_id(self) -> str:
        made: str = self.tenant.human.post("/tokens", {"kind": "service", "subject": "spare"})["id"]
        return made

    @cached_property
    def alert(self) -> str:
        made: str = self.tenant.human.post("/alerts", {"kind": "spare", "severity": "info", "message": CANARY})["id"]
        return made

    @cached_property
    def change(self) -> str:
        found: str = self.tenant.human.get("/workspace/changes")["items"][0]["id"]
        return found

    @cached_property
    def entry(self) -> str:
        made: str = self.tenant.human.post(
            "/blackboard", {"entry_type": "decision", "summary": f"{CANARY} cache", "scope": "src"}
        )["id"]
        return made

    @cached_property
    def question(self) -> dict[str, Any]:
        """Returns an action that was approved, which stands for others."""
        body = {"claim_id": self.claim["claim_id"], "kind": "action", "text": CANARY, "tool": "refund"}
        path = f"/tasks/{self.claim['task']['id']}"
        asked: dict[str, Any] = self.tenant.reviewer.post(f"{path}/ask", body)
        answer = {"outcome": "approved", "digest": asked["digest"], "standing": {"for": "tool"}}
        told: dict[str, Any] = self.tenant.human.post(f"{path}/questions/{asked['id']}/answer", answer)
        return told

    @cached_property
    def work_type(self) -> str:
        made: str = self.tenant.human.put("/routes/spare", {"agent": "reviewer", "mode": "manual"})["work_type"]
        return made

    @cached_property
    def tool(self) -> str:
        body = {"description": CANARY, "config": {"target_agent": "reviewer"}}
        made: str = self.tenant.human.put("/tools/spare_tool", body)["name"]
        return made

    @cached_property
    def view(self) -> str:
        body = {"title": CANARY, "page": "/tasks", "query": {"priority": "P0"}}
        made: str = self.tenant.human.put("/views/p0", body)["name"]
        return made

    @cached_property
    def conversation(self) -> str:
        body = {"agent": "reviewer", "message": CANARY}
        made: str = self.tenant.human.post("/conversations", body)["conversation_id"]
        return made

    def prepare(self) -> OperationsWorld:
        """Makes all of it. Afterwards only the tried requests write."""
        assert all((self.tasks, self.handed, self.review, self.token_id, self.alert, self.work_type))
        assert all((self.tool, self.conversation, self.entry, self.question, self.view, self.change))
        return self

    def path(self, of: Operation, slug: str = "reviewer") -> str:
        """Returns the path with ids of this workspace."""
        ids = {
            "task_id": self.tasks.get(of.id, self.needing),
            "slug": slug,
            "review_id": self.review,
            "token_id": self.token_id,
            "alert_id": self.alert,
            "change_id": self.change,
            "person": "ann",
            "version": "1",
            "entry_id": self.entry,
            "question_id": self.question["id"],
            "standing_id": self.question["decisions"][0]["standing_answer"],
            "work_type": self.work_type,
            "handoff_id": self.handed["handoff_id"],
            "workflow_id": self.handed["workflow_id"],
            "conversation_id": self.conversation,
            "name": self.tool,
            "view": self.view,
            "proxy": "oauth-protected-resource",
            "token": f"bm90aGluZw.{'0' * 64}",
            "secret": f"{self.tenant.name}.{'0' * 64}",
        }
        path = of.path.format_map({name: ids[name] for name in of.parameters("path")})
        query = "timeout=0" if "timeout" in of.parameters("query") else QUERIES.get(of.id)
        return path if query is None else f"{path}?{query}"

    def body(self, of: Operation) -> dict[str, Any] | None:
        """Returns a body with all required fields."""
        if of.body is None:
            return None
        filled: dict[str, Any] = self._fill(of.body, "")
        return filled

    def _fill(self, schema: Schema, name: str) -> Any:
        schema = resolved(schema)
        marker = marker_body()
        known = {**marker, "claim_id": self.claim["claim_id"], "subject": "reviewer", "agent": "reviewer", "agents": {}}
        known |= {"posted_by": "agent:nobody", "page": "/tasks", "query": {}}
        known |= {"digest": self.question["digest"], "signature": "0" * 64}
        if name in known:
            return known[name]
        if "anyOf" in schema:
            return self._fill(schema["anyOf"][0], name)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                fields = schema.get("properties", {})
                wanted = [each for each in fields if each in schema.get("required", []) or each in marker]
                return {each: self._fill(fields[each], each) for each in wanted}
            case "array":
                return [self._fill(schema["items"], name)] * schema.get("minItems", 0)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
            case "string" if schema.get("format") == "date-time":
                return "2030-01-01T00:00:00Z"
            case _:
                return CANARY

    def _ready(self, source: str) -> str:
        task_id = self.tenant.approved(source_agent=source)
        self.tenant.age(task_id, 901)
        return task_id
