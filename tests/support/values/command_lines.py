"""A story at the command line in which every command is played once, and the schema of what each answers as JSON.

A command that changes something has a line in the story, as it needs something in the right state. A row that only
reads gets its line by itself.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import click

from baton_cli.command_table import path_params
from baton_cli.main import NOUNS, cli
from baton_cli.request_commands import RequestCommand
from support.values.schema import DOCUMENT, resolved

# Command that is written by hand → the operation whose answer it prints.
BY_HAND = {
    "handoff show": ("GET", "/handoffs/{handoff_id}"),
    "handoff history": ("GET", "/workflows/{workflow_id}/chain"),
    "settings set": ("PUT", "/workspace/settings"),
    "tasks claim": ("POST", "/tasks/{task_id}/claim"),
    "tasks show": ("GET", "/tasks/{task_id}"),
    "tasks watch": ("GET", "/tasks/{task_id}"),
    "tasks retry": ("POST", "/handoffs/{handoff_id}/retry"),
    "approvals list": ("GET", "/tasks"),
    "approvals approve": ("POST", "/approvals"),
    "approvals show": ("GET", "/tasks/{task_id}/questions/{question_id}"),
    "approvals answer": ("POST", "/tasks/{task_id}/questions/{question_id}/answer"),
    "approvals standing": ("GET", "/standing-answers"),
    "approvals revoke": ("DELETE", "/standing-answers/{standing_id}"),
    "ask": ("POST", "/tasks/{task_id}/ask"),
    "await": ("GET", "/tasks/{task_id}/await"),
    "events tail": ("GET", "/tasks/{task_id}/events"),
    "events verify": ("GET", "/tasks/{task_id}/events/verify"),
    "chat": ("GET", "/conversations/{conversation_id}/messages"),
    "export": ("GET", "/tasks/{task_id}/events"),
    "console": ("POST", "/session-codes"),
    "api": ("GET", "/agents"),
}
# Commands that print no answer of the API.
OF_THEIR_OWN = {"init", "up", "down", "demo", "doctor", "worker", "mcp", "completion"}
# Commands that print two answers in one document.
JOINED = {"approvals list"}
# Commands that become another program, or run some. They are played as processes.
PROCESSES = {"demo", "worker", "mcp"}


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed line. ``kept``: what is remembered of the answer, as name and path of a field. ``heard``: its standard
    input."""

    text: str
    by: str
    kept: dict[str, str]
    exit: int = 0
    heard: str = ""

    @property
    def command(self) -> str:
        """The command's name, of one word or two."""
        words = self.text.split()
        return " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]


def typed(text: str, by: str = "human", exit: int = 0, heard: str = "", **kept: str) -> Typed:  # noqa: A002 - the code
    return Typed(text, by, kept, exit, heard)


def _commands() -> dict[str, click.Command]:
    context = click.Context(cli)
    found: dict[str, click.Command] = {}
    for noun in NOUNS:
        command = cli.get_command(context, noun)
        assert command is not None
        verbs = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{noun} {verb}": each for verb, each in verbs.items()} or {noun: command}
    return found


COMMANDS = _commands()


def calls_of(noun: str) -> tuple[RequestCommand, ...]:
    """The rows of a noun's module."""
    return tuple(getattr(importlib.import_module(NOUNS[noun][0]), "CALLS", ()))


def _operations() -> dict[str, tuple[str, str]]:
    rows = {}
    for noun in NOUNS:
        for call in calls_of(noun):
            name = f"{noun} {call.verb}"
            rows[name if name in COMMANDS else noun] = (call.method, call.path)
    return rows | BY_HAND


OPERATIONS = _operations()


def answer_schema(command: str) -> dict[str, Any] | None:
    """Returns the schema of the command's document in docs/openapi.json; None if the command has none, or one of its
    own."""
    if command in OF_THEIR_OWN | JOINED:
        return None
    method, path = OPERATIONS[command]
    responses = DOCUMENT["paths"][path][method.lower()]["responses"]
    usual = next(each for each in ("200", "201", "204") if each in responses)
    found = [resolved(responses[each]).get("content", {}) for each in (usual, "202") if each in responses]
    schemas = [dict(each["application/json"]["schema"]) for each in found if each]
    return {"anyOf": schemas} if len(schemas) > 1 else next(iter(schemas), None)


def looks(command: str) -> bool:
    """True if the command changes nothing, so that it may be played twice."""
    return OPERATIONS.get(command, ("", ""))[0] == "GET" and command != "chat"


HELLO = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", '
    '"capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}}\n'
)
GIVE = "handoff create --from scout --to reviewer --reason"

MORNING = [
    typed("init --name prod --agent linter"),
    typed("up"),
    typed("doctor"),
    typed("agents save closer --name Closer --accepts docs --approval auto"),
    typed("agents show closer"),
    typed("agents off closer"),
    typed("agents on closer"),
    typed("""agents import --data '{"writer": {"accepts": ["docs"]}}'"""),
    typed("agents list --accepts docs"),
    typed("routes set docs --agent closer --mode dispatch"),
    typed("routes show docs"),
    typed("routes list"),
    typed("routes delete docs"),
    typed("tools save handoff_to_closer --description 'Hand off.' --to closer --mode transfer"),
    typed("tools list"),
    typed("tools show handoff_to_closer"),
    typed("tools schema handoff_to_closer"),
    typed("tools preview handoff_to_closer --description 'Hand off at the end.'"),
    typed("tools dry-run handoff_to_closer --arguments '{}'"),
    typed("settings set dispatch_delay_seconds=300"),
    typed("settings show"),
]
DECISIONS = [
    *[Typed(f"{GIVE} 'Sign {each}'", "scout", {f"need{each}": "task.id"}) for each in range(1, 7)],
    typed("approvals list"),
    typed("tasks approve $need1 --revision 1"),
    typed("tasks undo $need1"),
    typed("tasks split $need1 --part 'Sign the notes' --part 'Sign the binaries'"),
    typed("tasks approve-next $need2"),
    typed("tasks cancel $need2 --reason 'Too late'"),
    typed("tasks defer $need3 --until 3d"),
    typed("tasks dismiss $need3 --reason 'Not needed'"),
    typed("tasks resolve $need4 --reason 'Signed on paper'"),
    typed("settings set dispatch_delay_seconds=0"),
    typed("approvals approve $need5 $need1", exit=1),
    typed("approvals approve --from scout --to reviewer"),
    typed("agents pending reviewer", "reviewer"),
    typed("agents held reviewer", "reviewer"),
]
WORK = [
    typed(f"{GIVE} 'Build it'", given="handoff.handoff_id", task="task.id", workflow="task.workflow_id"),
    typed("handoff show $given"),
    typed("handoff list"),
    typed("tasks claim $task --worker laptop --lease 600", "reviewer", claim="claim_id"),
    typed("tasks heartbeat $task --claim $claim", "reviewer"),
    typed("tasks note $task --claim $claim 'Half of it works'", "reviewer"),
    typed("tasks notes $task"),
    typed("""tasks checkpoint $task --claim $claim --step half --state '{"done": 1}'""", "reviewer"),
    typed("tasks checkpoints $task"),
    typed("handoff checkpoints $workflow"),
    typed("tasks release $task --claim $claim --reason 'Not today'", "reviewer"),
    typed("tasks claim $task", "reviewer"),
    typed("tasks release-claim $task --fence 2 --reason 'It hangs'"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed("tasks fail $task --claim $claim --type blocker --reason 'No key' --no-retryable", "reviewer"),
    typed("tasks show $task"),
    typed("tasks list --agent reviewer --state failed"),
    typed("tasks late-results $task"),
    typed("tasks model-calls $task"),
    typed("await $task", exit=1),
    typed("agents inbox scout", "scout", told="items.0.id"),
    typed("agents ack scout --id $told", "scout"),
    typed("tasks retry $task", second="task.id"),
    typed("tasks claim $second", "reviewer", claim="claim_id"),
    typed("tasks complete $second --claim $claim --output '\"built\"'", "reviewer"),
    typed("tasks watch $second"),
    typed("handoff history $workflow"),
    typed(f"{GIVE} 'Translate it'", refused="handoff.handoff_id", task="task.id"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed("tasks reject $task --claim $claim --reason 'Not mine'", "reviewer"),
    typed("handoff retry $refused", task="task.id"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed("tasks transfer $task --claim $claim --to closer --reason 'Close it'", "reviewer"),
    typed("worker --agent closer --once -- true", "service"),
    typed(f"{GIVE} 'Ask them'", task="task.id"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed(
        """tasks delegate $task --claim $claim --branches '[{"call_id": "a", "target": """
        """{"agent": "closer", "reason": "Read it"}}]'""",
        "reviewer",
    ),
    typed(f"{GIVE} 'Get a signature'", task="task.id"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed("tasks wait-callback $task --claim $claim --interaction signature", "reviewer"),
    typed(f"{GIVE} 'Pay them'", task="task.id"),
    typed("tasks claim $task", "reviewer", claim="claim_id"),
    typed(
        """ask $task 'May I?' --claim $claim --tool pay --arguments '{"amount": 1}' --no-wait --json""",
        "reviewer",
        question="id",
        digest="digest",
    ),
    typed("tasks questions $task"),
    typed("approvals show $question"),
    typed("approvals answer $question --approve --digest $digest --standing tool"),
    typed("tasks use-approval $task $question --claim $claim --digest $digest", "reviewer"),
    typed("approvals standing", standing="items.0.id"),
    typed("approvals revoke $standing"),
    typed("ask $task 'Which colour?' --claim $claim --no-wait --json", "reviewer", question="id"),
    typed("tasks wait-for-answers $task --claim $claim --question $question", "reviewer"),
    typed("events list $second"),
    typed("events tail $second"),
    typed("events verify $second"),
    typed("export $second"),
    typed("graph show agent:scout"),
    typed("graph directions"),
    typed("stats show --by agent"),
    typed("stats agents"),
    typed("stats agent scout"),
    typed("stats decisions"),
]
ASK = "marker --from scout --to writer --reason 'The build fails' --digest https://notes.example/7 --priority high"
TROUBLE = [
    typed(ASK, "scout", asked="task_id"),
    typed("tasks cancel $asked"),
    typed(ASK, "scout", asked="task_id"),
    typed("tasks cancel $asked"),
    typed(ASK, "scout"),
    typed("reviews list --state open", review="items.0.id"),
    typed("reviews show $review"),
    typed("reviews close $review --version 1 --reason 'The build is mended'"),
    typed(ASK, "scout"),
    typed("reviews list --state open", review="items.0.id"),
    typed("reviews release $review --version 1"),
    typed("alerts raise --kind disk --severity warning --message 'Nearly full'", alert="id"),
    typed("alerts list"),
    typed("alerts show $alert"),
    typed("alerts ack $alert --note Seen"),
    typed("alerts snooze $alert --until 1h"),
    typed("alerts resolve $alert"),
]
DOWN = typed("down")
POST = "memory post --type decision --scope project/auth --relates-to src/auth.py --rationale Stateless --summary"
KNOWLEDGE = [
    typed(f"{POST} 'Sessions are JWT'", "reviewer", entry="id"),
    typed(f"{POST} 'Sessions are cookies' --supersedes $entry", "reviewer", newer="id"),
    typed("memory list --scope project"),
    typed("memory show $entry"),
    typed("memory recall cookies"),
    typed("memory why src/auth.py"),
    typed("memory withdraw $newer --reason Wrong", "reviewer"),
    typed("memory withdraw-posted --by agent:reviewer --since 1d --reason Noise"),
    typed("memory delete $entry"),
    typed("tokens create --kind agent --for reviewer --expires 30d", token="id"),
    typed("tokens list"),
    typed("tokens revoke $token"),
    typed("chat runner --message Hello"),
    typed("conversations list --state idle"),
    typed("conversations list", talk="items.0.conversation_id"),
    typed("api GET /agents"),
    typed("console --print"),
    typed("completion bash"),
    typed("mcp serve --tools worker", "reviewer", heard=HELLO),
    typed("demo"),
    DOWN,
]
TRACKER = [
    typed("tracker token --token -", heard="ntn_of_a_stand_in\n"),
    typed("settings set tracker.database=$database"),
    typed("tracker check"),
    typed("tracker health"),
    typed("tracker import"),
    typed("tracker retry"),
    typed("tracker open-webhook"),
    typed("tracker webhook"),
    typed("tracker close-webhook"),
]
# The person is the first administrator, and makes a second one; a change of their own isn't theirs to decide.
CHANGES = [
    typed("""settings set 'groups={"leads":["ann"]}'"""),
    typed("tokens create --kind human --for human --right administrator"),
    typed("tokens create --kind human --for ann --right administrator"),
    typed("settings version 1"),
    typed("settings set 'groups={}'", change="id", digest="digest"),
    typed("changes list --state pending"),
    typed("changes show $change"),
    typed("changes approve $change --digest $digest", exit=4),
    typed("changes refuse $change --reason No", exit=4),
    typed("changes withdraw $change"),
    typed("people show ann"),
    typed("people end human"),
]
STORY = [*MORNING, *DECISIONS, *WORK, *TROUBLE, *KNOWLEDGE, *TRACKER, *CHANGES]


# The ids that the story remembers, by the kind of thing.
THERE = {
    "task_id": "$second",
    "handoff_id": "$given",
    "workflow_id": "$workflow",
    "slug": "reviewer",
    "review_id": "$review",
    "alert_id": "$alert",
    "entry_id": "$entry",
    "conversation_id": "$talk",
    "name": "handoff_to_closer",
}


def _looks() -> list[Typed]:
    """Returns a line for each row that only reads, needs nothing that isn't there, and has no line in the story."""
    told = {line.command for line in STORY}
    return [
        typed(" ".join([noun, call.verb, *(THERE[each.name] for each in path_params(call))]))
        for noun in NOUNS
        for call in calls_of(noun)
        if call.method == "GET" and f"{noun} {call.verb}" in COMMANDS.keys() - told
        if not any(each.is_required for each in call.query)
        and {each.name for each in path_params(call)} <= THERE.keys()
    ]


# Before the stack goes down.
LINES = [*STORY[: STORY.index(DOWN)], *_looks(), *STORY[STORY.index(DOWN) :]]
