"""A workspace with tasks in every state and one of everything else, that is as it was at the start of every example."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from baton.adapters.dynamodb.store import DynamoStore
from baton.domain.access.metering import Meter
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.services.access.issue_token import TokenRequest, issue_token
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, gateway_event, route_of
from support.worlds.world import World, agent, human, marker_body, service

WHO = {PrincipalKind.HUMAN: human(), PrincipalKind.SERVICE: service(), PrincipalKind.AGENT: agent("auditor")}
# How claims end: verb → the rest of its body.
ENDS: dict[str, Any] = {
    "complete": {"output": {"ok": True}},
    "fail": {"failure": {"type": "error", "description": "It broke"}},
}
_IDS = re.compile(r"\b(?:[a-z]+_t?)?[0-9a-hjkmnp-tv-z]{26}\b")


@dataclass
class Ids:
    """The same in every run, and again after going back."""

    number: int = 0

    def new(self, prefix: str, at: datetime) -> str:
        self.number += 1
        return sortable_id(prefix, at, self.number.to_bytes(RANDOM_BYTES))

    def secret(self) -> str:
        self.number += 1
        return f"{self.number:064x}"


@dataclass
class Premises:
    """``tokens``: of each of ``WHO``. ``ids``: of whatever is there, and ``slugs`` of agents."""

    world: World = field(default_factory=World)
    gateway: Gateway = field(init=False)
    tokens: dict[PrincipalKind, str] = field(init=False)

    def __post_init__(self) -> None:
        self._ids = Ids()
        self.world.deps = replace(self.world.deps, ids=self._ids)
        self.gateway = Gateway(self.world.settle().deps)
        self.tokens = {kind: self._token(who) for kind, who in WHO.items()}
        self._furnish()
        assert isinstance(self.world.store, InMemoryStore)
        self._store = self.world.store
        self._restore_table = self._store.dynamo.snapshot()
        self._parts = (self.world.deps.secrets, self.world.clock, self._ids, self.world.dispatch_queue)
        self._before = pickle.dumps([_content(part) for part in self._parts])

    def restore(self) -> None:
        self._restore_table()
        DynamoStore.__init__(self._store, self._store._table)  # its parts keep nothing of what was read before
        for part, before in zip(self._parts, pickle.loads(self._before), strict=True):
            vars(part).update(before)
        self.world.logged.clear()
        self.gateway.replies.clear()
        # What a process knows of its callers, too: no example pays for what those before it asked for.
        self.world.deps = self.gateway.deps = replace(self.gateway.deps, meter=Meter())

    @property
    def ids(self) -> list[str]:
        return sorted(set(_IDS.findall(repr(self._store.dynamo.contents()))))

    @property
    def slugs(self) -> list[str]:
        return [each.slug for each in self.world.store.agents.roster("acme")]

    @property
    def tools(self) -> list[str]:
        return [each.name for each in self.world.store.tools.toolbox("acme").tools]

    def _token(self, who: Principal) -> str:
        request = TokenRequest(kind=who.kind, subject=who.id, scopes=who.scopes)
        return issue_token(self.world.deps, human(), request)[1]

    def _furnish(self) -> None:
        """Few agents, so that a name is often the right one; a direction takes two tasks, one after the other."""
        self._sent(WHO[PrincipalKind.HUMAN], "PUT", "/agents/builder", {"name": "Builder"})
        for verb, body in ENDS.items():
            self._verb(self._task("scout" if verb == "complete" else "builder"), "approve")
            self.world.clock.advance(5)
            claim = self._claimed()
            self._verb(claim["task"]["id"], verb, WHO[PrincipalKind.AGENT], {"claim_id": claim["claim_id"], **body})
        for _ in range(2):
            self._verb(self._task("runner"), "cancel")
        self._task("runner")
        assert self._sent(WHO[PrincipalKind.HUMAN], "GET", "/manual-reviews")["items"]
        self._verb(self._task("scout"), "approve")
        self.world.clock.advance(5)
        self._claimed()
        self._verb(self._task("builder"), "approve")
        self._verb(self._task("auditor", "builder"), "approve-next")
        self._talk()
        self._task("scout", "builder")
        self._task("builder", "scout")
        self.world.clock.advance(5)
        self._verb(self._task("auditor", "scout"), "approve")

    def _talk(self) -> None:
        """One conversation that is under way, one that may go on, and a tool to hand over with."""
        variables = [{"name": "lead_id", "required": True}, {"name": "priority", "type": "number"}]
        config = {"target_agent": "builder", "context_variables": variables}
        self._sent(
            WHO[PrincipalKind.HUMAN],
            "PUT",
            "/tools/handoff_to_builder",
            {"description": "Hands over", "config": config},
        )
        self._sent(WHO[PrincipalKind.HUMAN], "PUT", "/agents/runner", {"tools": ["handoff_to_builder"]})
        for agent_ in ("runner", "builder"):
            said = {"agent": agent_, "message": "Is it ready?"}
            made = self._sent(WHO[PrincipalKind.HUMAN], "POST", "/conversations", said)
        self._verb(made["task"]["id"], "cancel")

    def _task(self, source: str, target: str = "auditor") -> Any:
        body = marker_body(source_agent=source, target_agent=target)
        return self._sent(WHO[PrincipalKind.SERVICE], "POST", "/handoff-markers", body)["task_id"]

    def _claimed(self) -> Any:
        return self._sent(WHO[PrincipalKind.AGENT], "POST", "/agents/auditor/claims")

    def _verb(self, task_id: str, verb: str, by: Principal = WHO[PrincipalKind.HUMAN], body: Any = None) -> None:
        self._sent(by, "POST", f"/tasks/{task_id}/{verb}", body)

    def _sent(self, by: Principal, method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {self.tokens[by.kind]}"}
        answer = self.gateway.handle(route_of(method, path), gateway_event(None, method, path, body, headers=headers))
        assert answer["statusCode"] < HTTPStatus.BAD_REQUEST, answer
        return json.loads(answer["body"])


def _content(part: object) -> dict[str, Any]:
    """What it keeps itself: of the store what the process remembers, and not the table."""
    return {name: value for name, value in vars(part).items() if name not in {"dynamo", "_table"}}
