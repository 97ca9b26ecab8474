"""A day at the command line, byte for byte: every noun, as people see it, on the API in this process.

Each line that only reads is played as JSON, too, and held against docs/openapi.json. WRITE_GOLDEN=1 writes the file.
"""

from __future__ import annotations

import json
import shlex
import string
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from functions.cli.conftest import Terminal, held
from support.values.schema import DOCUMENT, resolved, violations
from support.worlds.world import agent, human

ALICE, CODER, ARCHITECT = human(), agent("auto-code"), agent("architect")
# Who sits there, the line, and what is remembered of its answer: a name and the field's path.
Line = tuple[Principal, str, dict[str, str]]


def line(by: Principal, text: str, **kept: str) -> Line:
    return by, text, kept


MORNING = [
    line(ALICE, "agents save reviewer --name 'Release Reviewer' --accepts code,docs --approval manual"),
    line(ALICE, "agents list"),
    line(ALICE, "agents show reviewer"),
    line(ALICE, "agents off reviewer"),
    line(ALICE, "agents on reviewer"),
    line(ALICE, """agents import --data '{"writer": {"accepts": ["docs"]}}'"""),
    line(ALICE, "agents list --accepts docs"),
    line(ALICE, "routes set docs --agent writer --mode dispatch"),
    line(ALICE, "routes list"),
    line(ALICE, "routes show docs"),
    line(ALICE, "routes delete docs"),
    line(
        ALICE, "tools save handoff_to_qa --description 'Hand off to QA.' --to qa --mode transfer --instructions Test."
    ),
    line(ALICE, "tools list"),
    line(ALICE, "tools show handoff_to_qa"),
    line(ALICE, "tools schema handoff_to_qa"),
    line(ALICE, "tools preview handoff_to_qa --description 'Hand off for a test.'"),
    line(ALICE, "tools dry-run handoff_to_qa --arguments '{}'"),
    line(ALICE, "settings set max_attempts=5 guardrails.secrets=mask dispatch_delay_seconds=0"),
    line(ALICE, "settings show"),
]
HANDOFFS = [
    line(
        ARCHITECT,
        "handoff create --from architect --to auto-code --reason 'Build the login' --summary 'It is designed' "
        "--artifact specification=/docs/login.md --decision 'Use JWT' --deliverable 'code=The login' "
        "--criterion 'Has tests' --constraint 'No new dependency' --priority high --effort M",
        handoff="handoff.handoff_id",
        task="task.id",
        workflow="task.workflow_id",
    ),
    line(ALICE, "handoff show $handoff"),
    line(ALICE, "handoff list"),
    line(ALICE, "handoff history $workflow"),
    line(CODER, "agents pending auto-code"),
    line(CODER, "tasks claim --agent auto-code --worker laptop --lease 600", claim="claim_id"),
    line(CODER, "tasks claim --agent auto-code"),
    line(CODER, "tasks heartbeat $task --claim $claim --lease 900"),
    line(CODER, "tasks note $task --claim $claim 'Half of it works'"),
    line(CODER, "tasks notes $task"),
    line(CODER, """tasks checkpoint $task --claim $claim --step half --state '{"done": 1}'"""),
    line(CODER, "tasks checkpoints $task"),
    line(ALICE, "handoff checkpoints $workflow"),
    line(ALICE, "tasks show $task"),
    line(
        CODER,
        "tasks fail $task --claim $claim --type blocker --reason 'No fixtures' --completed login --incomplete logout "
        "--rollback-to architect --rollback-reason 'Add fixtures' --question 'Which users?' --no-retryable",
    ),
    line(ALICE, "await $task --timeout 0", exit="1"),
    line(ALICE, "tasks list --agent auto-code --state failed"),
    line(ALICE, "tasks late-results $task"),
    line(ARCHITECT, "agents inbox architect"),
    line(ALICE, "tasks retry $task", second="task.id"),
    line(CODER, "tasks claim $second --agent auto-code", claim="claim_id"),
    line(CODER, "tasks release $second --claim $claim --reason 'Not today'"),
    line(CODER, "tasks claim $second --agent auto-code", claim="claim_id"),
    line(
        CODER,
        "tasks complete $second --claim $claim --output '\"built\"' --note 'By hand' --data "
        """'{"verification": {"acceptance_criteria_met": [{"criterion": "Has tests", "met": true}]}}'""",
    ),
    line(ALICE, "events list $second"),
    line(ALICE, "events tail $second"),
    line(ALICE, "events verify $second"),
    line(ALICE, "graph show agent:architect"),
    line(ALICE, "graph directions"),
]
DECISIONS = [
    *[
        line(
            ARCHITECT,
            f"handoff create --from architect --to reviewer --reason 'Sign {each}'",
            **{f"n{each}": "task.id"},
        )
        for each in range(1, 8)
    ],
    line(ALICE, "approvals list"),
    line(ALICE, "tasks approve $n1 --revision 1"),
    line(ALICE, "tasks approve-next $n2"),
    line(ALICE, "tasks defer $n3 --until 3d"),
    line(ALICE, "tasks dismiss $n4 --reason 'Not needed'"),
    line(ALICE, "tasks split $n5 --part 'Sign the notes' --part 'Sign the binaries'"),
    line(ALICE, "approvals approve $n6 $n1", exit="1"),
    line(ALICE, "tasks resolve $n7 --reason 'Signed on paper'"),
    line(ALICE, "tasks cancel $n2 --reason 'Too late'"),
    line(ALICE, "approvals approve --from architect --to reviewer"),
    line(
        ARCHITECT,
        "marker --from architect --to reviewer --reason 'The checklist is unsigned' "
        "--digest https://notes.example/7 --priority high",
    ),
    line(ALICE, "reviews list"),
    line(ALICE, "alerts raise --kind disk --severity warning --message 'Nearly full'", alert="id"),
    line(ALICE, "alerts list"),
    line(ALICE, "alerts show $alert"),
    line(ALICE, "alerts ack $alert --note Seen"),
    line(ALICE, "alerts resolve $alert"),
]
KNOWLEDGE = [
    line(
        CODER,
        "memory post --type decision --summary 'Sessions are JWT' --scope project/auth --tag auth,jwt "
        "--rationale Stateless --relates-to src/auth/jwt.ts",
        entry="id",
    ),
    line(CODER, "memory list --scope project --since 1d"),
    line(CODER, "memory show $entry"),
    line(CODER, "memory recall JWT"),
    line(CODER, "memory why src/auth/jwt.ts"),
    line(CODER, "memory withdraw $entry --reason Wrong"),
    line(ALICE, "memory delete $entry"),
    line(ALICE, "tokens create --kind agent --for qa --expires 30d", token="id"),
    line(ALICE, "tokens list"),
    line(ALICE, "tokens revoke $token"),
    line(ALICE, "tracker health"),
    line(ALICE, "api GET /healthz"),
]


@pytest.mark.parametrize("name", ["morning", "handoffs", "decisions", "knowledge"])
def test_a_session_is_as_it_was(terminal: Terminal, name: str) -> None:
    parts = {"morning": MORNING, "handoffs": HANDOFFS, "decisions": DECISIONS, "knowledge": KNOWLEDGE}
    if name == "decisions":
        terminal.json("agents", "save", "reviewer", "--name", "Release Reviewer", "--approval", "manual")
    held(f"session-{name}", "".join(played(terminal, parts[name])))


def played(terminal: Terminal, lines: list[Line]) -> list[str]:
    known: dict[str, str] = {}
    said = []
    for by, text, kept in lines:
        terminal.sit(by)
        terminal.world.clock.advance(60)
        typed = [string.Template(each).substitute(known) for each in shlex.split(text)]
        expected = int(kept.get("exit", "0"))
        if kept and "exit" not in kept:  # an id is read from the answer as JSON, so the line is played as JSON
            answer = terminal.json(*typed)
            assert wrong(terminal, answer) == []
            known |= {name: field(answer, path) for name, path in kept.items()}
            said.append(f"$ baton {text}\n{', '.join(f'{name}={known[name]}' for name in kept)}\n\n")
            continue
        code, out, err = terminal.runs(*typed, "--text")
        assert code == expected, f"{text}: {err}"
        said.append(f"$ baton {text}\n{out}\n")
        if terminal.api.served[-1].method == "GET":
            code, out, err = terminal.runs(*typed, "--json")
            assert code == expected, f"{text}: {err}"
            document = json.loads(out)
            document.pop("questions", None)  # beside the page of tasks in what waits for people
            assert wrong(terminal, document) == [], text
    return said


def field(answer: Any, path: str) -> str:
    for each in path.split("."):
        answer = answer[each]
    return str(answer)


def wrong(terminal: Terminal, answer: Any) -> list[str]:
    """How a document differs from what the last route that was asked answers, or one before it."""
    found = []
    for route in reversed(terminal.api.served[-6:]):
        responses = DOCUMENT["paths"][route.path][route.method.lower()]["responses"]
        content = resolved(next(responses[each] for each in ("200", "201") if each in responses)).get("content", {})
        found = list(violations(answer, content["application/json"]["schema"], route.path)) if content else []
        if not found:
            return []
    return found
