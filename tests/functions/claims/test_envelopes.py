"""The protocol's messages, sent whole (docs/spec/protocol.md §4 and §5): what their envelope says has to be so."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.http_agents import ALICE, HttpAgents

CRITERIA = ["Implements all spec requirements", "Includes unit tests", "Passes type checking"]
EXPECTED = {"deliverables": [{"type": "code", "description": "The module", "acceptance_criteria": CRITERIA}]}
COMPLETION: dict[str, Any] = {
    "completion_id": "comp_xyz789",
    "timestamp": "2026-01-11T21:00:00Z",
    "status": "success",
    "source": {"agent": "auto-code", "agent_id": "code_abc456"},
    "deliverables": [
        {
            "type": "code",
            "files_created": ["/src/auth/jwt.ts", "/src/auth/middleware.ts", "/src/auth/routes.ts"],
            "files_modified": ["/src/app.ts"],
            "tests_created": ["/tests/auth.test.ts"],
        }
    ],
    "verification": {
        "tests_passing": True,
        "type_check_passing": True,
        "lint_passing": True,
        "acceptance_criteria_met": [{"criterion": text, "met": True} for text in CRITERIA],
    },
    "notes": ["Added refresh token rotation for security", "Included rate limiting on auth endpoints"],
    "continuation": {
        "suggested_next": "qa",
        "reason": "Integration testing recommended",
        "context_for_next": {"focus_areas": ["auth flow", "token refresh"]},
    },
}
FAILURE: dict[str, Any] = {
    "failure_id": "fail_xyz789",
    "timestamp": "2026-01-11T20:45:00Z",
    "status": "failed",
    "source": {"agent": "auto-code", "agent_id": "code_abc456"},
    "failure": {
        "type": "blocker",
        "description": "Cannot implement OAuth without client credentials",
        "blockers": [
            {
                "type": "missing_information",
                "description": "Google OAuth client ID and secret not provided",
                "required_to_proceed": True,
            }
        ],
        "partial_progress": {"completed": ["JWT implementation"], "incomplete": ["Google OAuth"]},
    },
    "rollback_request": {
        "target_agent": "architect",
        "reason": "Need OAuth credentials before proceeding",
        "questions": ["Should we skip OAuth for now?"],
    },
    "checkpoint_id": "chk_partial_123",
}
MESSAGES = {"complete": COMPLETION, "fail": FAILURE}


def begun(http_agents: HttpAgents) -> tuple[Any, str]:
    claim = http_agents.begun(expectations=EXPECTED)
    return claim, claim["task"]["handoff_id"]


@pytest.mark.parametrize("verb", MESSAGES)
def test_a_message_of_the_source_document_is_taken_whole(http_agents: HttpAgents, verb: str) -> None:
    claim, handoff_id = begun(http_agents)
    reply = http_agents.say(claim, verb, handoff_id=handoff_id, **MESSAGES[verb])
    assert reply.status == 200, reply.text
    kept = reply.json["completion" if verb == "complete" else "failure"]
    assert http_agents.say(claim, verb, handoff_id=handoff_id, **MESSAGES[verb]).json == reply.json
    if verb == "complete":
        assert kept["handoff_id"] == handoff_id
        assert kept["source"] == COMPLETION["source"]
        assert kept["completion_id"] != COMPLETION["completion_id"]
        assert kept["notes"] == COMPLETION["notes"]


@pytest.mark.parametrize("verb", MESSAGES)
@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("handoff_id", {"handoff_id": "ho_abc123"}),
        ("source.agent", {"source": {"agent": "qa"}}),
        ("source.agent", {"source": {"agent": "nobody known"}}),
        ("status", {"status": "partial"}),
        ("status", {"status": "done"}),
    ],
)
def test_a_contradiction_is_refused_by_its_field_and_the_claim_goes_on(
    http_agents: HttpAgents, verb: str, field: str, changes: dict[str, Any]
) -> None:
    claim, handoff_id = begun(http_agents)
    reply = http_agents.say(claim, verb, **{**MESSAGES[verb], "handoff_id": handoff_id, **changes})
    assert (reply.status, reply.fields) == (422, [field])
    assert http_agents.say(claim, verb, handoff_id=handoff_id, **MESSAGES[verb]).status == 200


def test_success_with_an_unmet_criterion_is_a_contradiction(http_agents: HttpAgents) -> None:
    claim, _ = begun(http_agents)
    reports = [{"criterion": text, "met": text != CRITERIA[1]} for text in CRITERIA]
    unmet = {**COMPLETION, "verification": {"acceptance_criteria_met": reports}}
    assert http_agents.say(claim, "complete", **unmet).fields == ["status"]
    done = http_agents.say(claim, "complete", **{**unmet, "status": "partial"})
    assert done.json["completion"]["status"] == "partial"


def test_a_holder_may_say_its_name_instead_of_its_slug(http_agents: HttpAgents) -> None:
    http_agents.gateway.put(ALICE, "/agents/auto-code", {"aliases": ["Auto Code"]})
    claim, _ = begun(http_agents)
    assert http_agents.say(claim, "complete", **{**COMPLETION, "source": {"agent": "Auto Code"}}).status == 200
