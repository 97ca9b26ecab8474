"""The crew of docs/spec/protocol.md §9 as outside workers: each polls for its own work over HTTP and does what its
script says with it. Nobody tells them in which order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

from baton.domain.access.principal import PrincipalKind
from baton.services.access.issue_token import TokenRequest, issue_token
from support.worlds.deployed import CANARY, Client
from support.worlds.tenant import Tenant

CAPABILITIES = """\
agents:
  architect:
    accepts: [design_request, specification_review, architecture_decision]
    produces: [specification, decision, diagram]
  auto-code:
    accepts: [specification, bug_report, feature_request]
    produces: [code, tests, documentation]
  qa:
    accepts: [code, test_request]
    produces: [test_results, bug_report, coverage_report]
  ciso:
    accepts: [code, security_review_request]
    produces: [security_report, vulnerability_list, remediation_plan]
"""
CREW = ("architect", "auto-code", "qa", "ciso")
CRITERIA = ["Implements all spec requirements", "Includes unit tests", "Passes type checking"]
POLLS = 40

Claim = dict[str, Any]
Work = Callable[[Client, Claim], bool]


@dataclass
class OutsideWorkers:
    """``clients``: each member's client, with a token of its own."""

    tenant: Tenant
    clients: dict[str, Client]

    def play(self, script: dict[str, Work]) -> None:
        """Returns once the work that is the script's last is done. Raises what any worker raised."""
        over = Event()
        with ThreadPoolExecutor(max_workers=len(script)) as pool:
            futures = [pool.submit(_work, self.clients[slug], slug, work, over) for slug, work in script.items()]
            for future in futures:
                future.result()
        assert over.is_set(), "nobody got to the end of the chain"


def hired(tenant: Tenant) -> OutsideWorkers:
    """Returns the crew, imported from capabilities.yaml, each with a human's standing approval."""
    yaml = {"Content-Type": "application/yaml"}
    imported = tenant.human.send("POST", "/agents/import", raw=CAPABILITIES.encode(), headers=yaml)
    assert imported.status_code == 200, imported.text
    clients = {}
    for slug in CREW:
        tenant.human.put(f"/agents/{slug}", {"approval": "auto"})
        by = tenant.principal(PrincipalKind.HUMAN, "alice")
        request = TokenRequest(kind=PrincipalKind.AGENT, subject=slug, scopes=frozenset())
        clients[slug] = tenant.deployed.client(issue_token(tenant.deployed.deps, by, request)[1])
    return OutsideWorkers(tenant, clients)


def _work(client: Client, slug: str, work: Work, over: Event) -> None:
    try:
        for _ in range(POLLS):
            if over.is_set():
                return
            answer = client.send("POST", f"/agents/{slug}/claims/wait?timeout=3", {"worker": f"{slug}-1"})
            if answer.status_code == 200 and work(client, answer.json()):
                over.set()
    except BaseException:
        over.set()
        raise


def specification_handoff(claim_id: str) -> dict[str, Any]:
    """The example's first handoff (docs/spec/protocol.md §9), under a claim."""
    return {
        "claim_id": claim_id,
        "source": {"agent": "architect", "agent_id": "arch_xyz789", "phase": "design_complete"},
        "target": {"agent": "auto-code", "reason": "Implementation of authentication module"},
        "summary": "Implement auth module",
        "context": {
            "project": {
                "name": "TaskManager",
                "path": "/path/to/project",
                "tech_stack": ["Node.js", "TypeScript", "PostgreSQL"],
            },
            "artifacts": [
                {
                    "type": "specification",
                    "path": "/TODO/auth-module.md",
                    "description": "Authentication module specification",
                },
                {
                    "type": "decision",
                    "content": "Use JWT with refresh tokens",
                    "rationale": "Stateless auth for API consumers",
                },
            ],
            "state": {"files_created": ["/TODO/auth-module.md"], "decisions_made": 3, "current_phase": "2"},
            "relevant_memories": [
                "User prefers explicit error handling",
                f"Project uses ESLint with strict config {CANARY}",
            ],
        },
        "expectations": {
            "deliverables": [
                {
                    "type": "code",
                    "description": "Authentication module implementation",
                    "files": ["/src/auth/*.ts"],
                    "acceptance_criteria": CRITERIA,
                }
            ],
            "constraints": ["Must use existing database schema", "No breaking changes to API"],
            "estimated_duration": "30 minutes",
        },
        "rollback": {
            "on_failure": "architect",
            "failure_context": ["Which requirements couldn't be met", "What blockers were encountered"],
        },
        "metadata": {"priority": "high", "depth": 99},
    }
