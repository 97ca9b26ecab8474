"""A workspace with one of everything, and every kind of caller."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from baton.domain.access.principal import CONVERSE, Principal, PrincipalKind
from baton.services.tasks.sweep import sweep
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, Reply
from support.models.expected import EXPECTED
from support.published import PublishedEvents
from support.values.bodies import BODIES, IDS, QUERIES
from support.worlds.operations import WITH_TOKEN, WORKER_VERBS, Operation
from support.worlds.world import WORKSPACE, World, human, marker_body, service

WORD = "zanzibar"
ALICE = human()
# The agent that an operation is about, where that isn't the task's target.
SCOUT_S = {
    *("retry_a_handoff", "cancel", "create_marker", "create_a_handoff", "create_twining_handoff"),
    *("list_inbox", "acknowledge_inbox"),
    *("get_manual_review", "list_manual_reviews", "create_alert", "list_all_alerts", "get_alert"),
    *("create_conversation", "create_message"),
}

# On the held task, by others than its holder.
OF_HELD = {"release_held_claim", "give_answer", "revoke_an_approval"}


def agent(slug: str) -> Principal:
    """With the one scope that an agent may have."""
    return Principal(WORKSPACE, PrincipalKind.AGENT, slug, frozenset({CONVERSE}))


@dataclass
class PopulatedWorkspace:
    """``of``: the operation that is asked for. Every text in the workspace has one word in it, by which a test finds it
    in answers."""

    world: World
    of: Operation

    def __post_init__(self) -> None:
        self.gateway = Gateway(self.world.deps)
        self.world.settle()
        self.asked("PUT", "/agents/stranger", {"name": "Stranger"})
        self.tool = self.asked("PUT", "/tools/to_runner", {"description": WORD, "config": {"target_agent": "runner"}})
        self.asked("PUT", "/agents/auditor", {"system_prompt": WORD, "tools": ["to_runner"]})
        self.asked("PUT", "/workspace/settings", {"guardrails": {"forbidden_patterns": [f"{WORD}?forbidden"]}})
        self.asked("PUT", "/routes/audits", {"agent": "auditor", "mode": "next"})
        self.conversation = self.talked()
        self.failed = self.ended("fail", failure={"type": "error", "description": WORD})
        self.review = self.capped()
        self.held, self.claim_id = self.worked_on()
        self.asked_of_people()
        handoff = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": WORD}}
        self.needing = self.asked("POST", "/handoffs", handoff, agent("scout"))["task"]
        about = {"kind": "odd", "severity": "info", "message": WORD, "task_id": self.needing["id"]}
        self.alert = self.asked("POST", "/alerts", about)["id"]
        self.entry = self.asked(
            "POST",
            "/blackboard",
            {"entry_type": "decision", "summary": f"No {WORD} in the cache", "scope": "src"},
            agent("auditor"),
        )["id"]
        self.asked("PUT", "/views/p0", {"title": WORD, "page": "/tasks", "query": {"q": WORD}})
        self.token = self.asked("POST", "/tokens", {"kind": "human", "subject": "spare"})["id"]
        self.change = self.waiting_change()
        PublishedEvents(self.world).stream()

    def of_its_own(self, operation: Operation, store: Any = None) -> PopulatedWorkspace:
        """Returns a copy in the state that the operation needs: to make a workspace takes longer than all else.
        ``store``: the copy's store, which may be around an ``InMemoryStore``."""
        workspace, world = copy(self), World() if store is None else World(store=store)
        inner = getattr(store, "inner", world.store)
        assert isinstance(inner, InMemoryStore)
        assert isinstance(self.world.store, InMemoryStore)
        inner.dynamo.take_over(self.world.store.dynamo)
        world.clock.time = self.world.clock.time
        workspace.of, workspace.world, workspace.gateway = operation, world, Gateway(world.deps)
        if of_now := {"undo": workspace.approved, "claim": workspace.ready, "claim_the_next": workspace.ready}.get(
            operation.id
        ):
            of_now()
        if operation.id == "wait_for_a_claim":
            workspace.ready()
        return workspace

    # What there is

    def talked(self) -> str:
        made = self.asked("POST", "/conversations", {"agent": "auditor", "message": WORD}, agent("scout"))
        self.asked("POST", f"/tasks/{made['task']['id']}/approve", {})
        self.world.clock.advance(5)
        claim = self.asked("POST", f"/tasks/{made['task']['id']}/claim", {}, agent("auditor"))
        path = f"/tasks/{made['task']['id']}/complete"
        self.asked("POST", path, {"claim_id": claim["claim_id"], "output": WORD}, agent("auditor"))
        return str(made["conversation_id"])

    def handed(self) -> dict[str, Any]:
        """To the auditor, and taken by it."""
        said = {
            "source": {"agent": "scout"},
            "target": {"agent": "auditor", "reason": WORD},
            "context": {"state": {"said": WORD}},
        }
        made = self.asked("POST", "/handoffs", said)
        self.world.clock.advance(5)
        claimed: dict[str, Any] = self.asked("POST", f"/tasks/{made['task']['id']}/claim", {}, agent("auditor"))
        return claimed

    def ended(self, verb: str, **said: Any) -> dict[str, Any]:
        claim = self.handed()
        task_id = claim["task"]["id"]
        done: dict[str, Any] = self.asked(
            "POST", f"/tasks/{task_id}/{verb}", {"claim_id": claim["claim_id"], **said}, agent("auditor")
        )
        return done

    def worked_on(self) -> tuple[dict[str, Any], str]:
        """Returns a task that a worker has lost, which answers late, and that was claimed again; with a note."""
        first = self.handed()
        path = f"/tasks/{first['task']['id']}"
        self.world.clock.advance(301)
        assert sweep(self.world.deps).failed == 0
        late = {"claim_id": first["claim_id"], "output": WORD}
        assert self.gateway.post(agent("auditor"), f"{path}/complete", late).code == "stale_claim"
        self.world.clock.advance(600)
        claim = self.asked("POST", f"{path}/claim", {}, agent("auditor"))
        self.asked("POST", f"{path}/notes", {"claim_id": claim["claim_id"], "text": WORD}, agent("auditor"))
        return claim["task"], str(claim["claim_id"])

    def asked_of_people(self) -> None:
        """An action that was approved, which stands for others, and one that is open."""
        path = f"/tasks/{self.held['id']}"
        ask = {"claim_id": self.claim_id, "kind": "action", "text": WORD, "tool": "refund"}
        first = self.asked("POST", f"{path}/ask", {**ask, "arguments": {"to": WORD}}, agent("auditor"))
        answer = {"outcome": "approved", "digest": first["digest"], "standing": {"for": "arguments"}}
        self.approval = self.asked("POST", f"{path}/questions/{first['id']}/answer", answer)
        self.question = self.asked("POST", f"{path}/ask", ask, agent("auditor"))

    def marked(self, by: Principal, target: str) -> str:
        body = marker_body(target_agent=target, escalation_reason=WORD, source_digest_url=f"https://{WORD}.example/1")
        made: dict[str, Any] = self.asked("POST", "/handoff-markers", body, by)
        return str(made["task_id"])

    def capped(self) -> str:
        for _ in range(2):
            self.asked("POST", f"/tasks/{self.marked(agent('scout'), 'runner')}/cancel", {})
        self.marked(agent("scout"), "runner")
        return str(self.asked("GET", "/manual-reviews")["items"][0]["id"])

    def waiting_change(self) -> dict[str, Any]:
        """Ann asks to remove a group, and a second administrator has to approve."""
        self.asked("PUT", "/workspace/settings", {"groups": {WORD: ["ann"]}})
        for name in ("alice", "ann"):
            self.asked("POST", "/tokens", {"kind": "human", "subject": name, "right": "administrator"})
        reply = self.gateway.put(human(name="ann"), "/workspace/settings", {"groups": {}})
        assert reply.status == 202, reply.text
        asked: dict[str, Any] = reply.json
        return asked

    def approved(self) -> None:
        self.asked("POST", f"/tasks/{self.needing['id']}/approve", {})

    def ready(self) -> None:
        self.approved()
        self.world.clock.advance(5)

    def asked(self, method: str, path: str, body: Any = None, by: Principal = ALICE) -> Any:
        reply = self.gateway.send(by, method, path, body)
        assert reply.status in {200, 201}, f"{method} {path}: {reply.text}"
        return reply.json

    # Who calls

    @property
    def own(self) -> str:
        return "scout" if self.of.id in SCOUT_S else "auditor"

    def caller(self, name: str) -> Principal:
        if name == "off":
            self.asked("PUT", f"/agents/{self.own}", {"active": False})
        return {
            "elsewhere": human("globex"),
            "own": agent(self.own),
            "other": agent("stranger"),
            "off": agent(self.own),
            "act_as": service(),
            "service": Principal(WORKSPACE, PrincipalKind.SERVICE, "narrow"),
            "human": ALICE,
        }[name]

    # What is sent

    def ids(self) -> dict[str, str]:
        is_about_held = self.of.id in {*WORKER_VERBS, *OF_HELD} or self.of.method == "GET"
        question = self.approval if self.of.id in {"use_an_approval", "revoke_an_approval"} else self.question
        task = self.held if is_about_held else self.needing
        return IDS | {
            "task_id": task["id"],
            "slug": self.own,
            "review_id": self.review,
            "token_id": self.token,
            "alert_id": self.alert,
            "entry_id": self.entry,
            "question_id": question["id"],
            "standing_id": self.approval["decisions"][0]["standing_answer"],
            "work_type": "audits",
            "handoff_id": (self.failed if self.of.method == "POST" else self.held)["handoff_id"],
            "workflow_id": self.held["workflow_id"],
            "conversation_id": self.conversation,
            "name": "to_runner",
            "view": "p0",
            "change_id": self.change["id"],
            "person": "ann",
            "version": "1",
        }

    @cached_property
    def body(self) -> Any:
        usual = BODIES.get(self.of.id)
        if self.of.id in WORKER_VERBS:
            usual = {**BODIES[self.of.id], "claim_id": self.claim_id}
        asked = {
            "create_alert": {**BODIES["create_alert"], "task_id": self.needing["id"]},
            "approve_several": {"items": [{"task_id": self.needing["id"]}]},
            "create_twining_handoff": {**BODIES["create_twining_handoff"], "source_agent": "scout"},
            "create_a_handoff": {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": "look"}},
            "create_marker": marker_body(target_agent="stranger"),
            "release_held_claim": {"fence": self.held["claim"]["fence"], "reason": "it hangs"},
            "wait_answers": {"claim_id": self.claim_id, "questions": [self.question["id"]]},
            "use_an_approval": {"claim_id": self.claim_id, "digest": self.approval["digest"]},
            "snooze_an_alert": {"until": None},
            "approve_workspace_change": {"digest": self.change["digest"]},
            "put_tool": {"config": {"target_agent": "runner"}},
            "preview_a_tool": {"config": {"target_agent": "runner"}},
            "split": {"parts": [{"summary": WORD}, {"summary": "the rest"}]},
        }
        return asked.get(self.of.id, usual)

    @property
    def path(self) -> str:
        return self.of.path.format_map(self.ids())

    @property
    def who_may(self) -> Principal:
        """Returns a caller who may do it, by the table of decisions."""
        row = EXPECTED[self.of.id]
        return self.caller("human" if row.human.startswith("2") else "own")

    def session_of(self, by: Principal) -> dict[str, str]:
        """Returns the header of a session of the person."""
        made = self.asked("POST", "/sessions", {}, by)
        return {"authorization": f"Bearer {made['session_token']}"}

    def send(self, by: Principal | None, ids: dict[str, str], **options: Any) -> Reply:
        query = "timeout=0" if "timeout" in self.of.parameters("query") else QUERIES.get(self.of.id, "")
        path = self.of.path.format_map(ids)
        return self.gateway.send(by, self.of.method, path, self.body, query=query, **options)


@cache
def populated_workspace() -> PopulatedWorkspace:
    return PopulatedWorkspace(World(), WITH_TOKEN[0])
