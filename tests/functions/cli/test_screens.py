"""The protocol's screens, byte for byte: the chain that its document draws, at a fixed width and time.

WRITE_GOLDEN=1 writes the files; read the diff.
"""

from __future__ import annotations

from typing import Any

import pytest

from functions.cli.conftest import Terminal, held
from support.worlds.http_agents import ALICE
from support.worlds.world import human

CRITERIA = ["Implements all spec requirements", "Includes unit tests"]


def played(terminal: Terminal) -> dict[str, Any]:
    """architect → auto-code → qa, which fails → auto-code → qa → ciso, which is at work. The handoffs, in order."""
    clock, agents = terminal.world.clock, terminal.agents
    design = agents.hand_off(
        "ciso", "architect", target={"agent": "architect", "reason": "Design authentication module"}
    )
    claim = agents.take("architect")
    clock.advance(15 * 60)
    build = agents.hand_off(
        "architect",
        "auto-code",
        claim_id=claim["claim_id"],
        target={"agent": "auto-code", "reason": "Implement auth module"},
        context={
            "project": {"name": "TaskManager", "tech_stack": ["Node.js", "TypeScript", "PostgreSQL"]},
            "artifacts": [
                {"type": "specification", "path": "/TODO/auth-module.md"},
                {"type": "decision", "content": "JWT"},
                {"type": "decision", "content": "refresh tokens"},
            ],
            "relevant_memories": ["User prefers explicit error handling"],
        },
        expectations={
            "deliverables": [{"type": "code", "description": "Auth module", "acceptance_criteria": CRITERIA}],
            "constraints": ["No breaking changes to API"],
        },
    )
    agents.say(claim, "complete", output={"designed": True})
    claim = agents.take("auto-code")
    clock.advance(28 * 60)
    built = agents.say(
        claim,
        "complete",
        deliverables=[
            {
                "type": "code",
                "files_created": [f"/src/auth/{name}.ts" for name in ("jwt", "middleware", "routes", "tokens")],
                "files_modified": ["/src/app.ts"],
                "tests_created": ["/tests/auth.test.ts"],
            }
        ],
        verification={
            "tests_passing": True,
            "type_check_passing": True,
            "lint_passing": False,
            "acceptance_criteria_met": [{"criterion": each, "met": True} for each in CRITERIA],
        },
        notes=["Added refresh token rotation for security"],
        continuation={"suggested_next": "qa", "reason": "Test auth implementation"},
    )
    assert built.status == 200, built.text
    claim = agents.take("qa")
    clock.advance(120)
    failed = agents.say(
        claim,
        "fail",
        failure={
            "type": "blocker",
            "description": "Missing test fixtures \x1b[31m",
            "partial_progress": {"completed": ["login"], "incomplete": ["refresh"]},
        },
        rollback_request={"target_agent": "auto-code", "reason": "Add test fixtures", "questions": ["Which users?"]},
    )
    assert failed.status == 200, failed.text
    claim = agents.take("auto-code")
    clock.advance(8 * 60)
    agents.say(claim, "complete", continuation={"suggested_next": "qa", "reason": "Retest auth implementation"})
    agents.say(agents.take("qa"), "complete", continuation={"suggested_next": "ciso", "reason": "Security review"})
    agents.take("ciso")
    clock.advance(5 * 60)
    return {"design": design, "build": build, "failed": failed.json}


@pytest.fixture
def chain(terminal: Terminal) -> dict[str, Any]:
    return played(terminal)


def test_a_handoff_is_shown_as_the_document_draws_it(terminal: Terminal, chain: dict[str, Any]) -> None:
    held("show", terminal.screen("handoff", "show", chain["build"]["handoff"]["handoff_id"]))


def test_a_failed_handoff_shows_why_and_who_got_it_back(terminal: Terminal, chain: dict[str, Any]) -> None:
    listed = terminal.json("handoff", "list", "--to", "qa", "--state", "failed")
    held("show-failed", terminal.screen("handoff", "show", listed["items"][0]["handoff_id"]))


def test_the_list_is_of_what_goes_on(terminal: Terminal, chain: dict[str, Any]) -> None:
    held("list", terminal.screen("handoff", "list"))
    held("list-any", terminal.screen("handoff", "list", "--state", "any", "--utc"))


def test_the_history_is_the_chain_with_its_rollback(terminal: Terminal, chain: dict[str, Any]) -> None:
    task = chain["design"]["task"]
    held("history", drawn := terminal.screen("handoff", "history", task["workflow_id"]))
    assert drawn == terminal.screen("handoff", "history", task["id"])
    assert drawn == terminal.screen("handoff", "history", task["handoff_id"])


def test_a_retry_says_what_it_does(terminal: Terminal, chain: dict[str, Any]) -> None:
    listed = terminal.json("handoff", "list", "--to", "qa", "--state", "failed")
    held("retry", terminal.screen("handoff", "retry", listed["items"][0]["handoff_id"]))


def test_conversations_are_listed_with_who_holds_them(terminal: Terminal) -> None:
    for by, message_text in ((ALICE, "Is the sign-in safe?"), (human(name="bob"), "When is the release?")):
        begun = terminal.agents.gateway.post(by, "/conversations", {"agent": "ciso", "message": message_text})
        assert begun.status == 201, begun.text
        terminal.world.clock.advance(90)
    held("conversations", terminal.screen("conversations", "list"))
    held("conversations-own", terminal.screen("conversations", "list", "--begun-by", "human:alice", "--state", "open"))
