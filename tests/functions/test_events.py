"""Every file of events/, through its handler, on the real adapters: what is answered, and what is stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.bootstrap import forget_all, wire
from baton.domain.access.principal import ACT_AS, PrincipalKind
from baton.domain.access.token import Token, digest
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.agents.tool import Variable
from baton.domain.errors import PageHeld
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.questions.question import Outcome, QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tracker.page_sync import PageLink, PageRef, PageSync
from baton.ports.deps import Deps
from baton.ports.writes import Insert, Save
from baton.services.access.change_settings import change_settings
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.wait_for_callback import wait_for_callback
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.questions.answer_question import Answer, answer_question
from baton.services.questions.ask_question import Asked, ask_question
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker.open_webhook import open_webhook
from baton.services.tracker.receive_webhook import receive_webhook
from baton.steps.claims.take_task import Claimer
from notion_webhook import handler as notion_webhook
from notion_webhook.delivery import NotionEvent
from rest.app import App
from support.clock import NOON, FakeClock
from support.context import FakeContext
from support.fakes.fake_dynamo import FakeDynamo, NoFaults
from support.fakes.fake_dynamo.fault_source import refusal
from support.worlds.world import agent, human, marker_body

EVENTS = Path(__file__).parents[2] / "events"
DEMO = "demo"
TASK = "task_example1"
# The addresses in the event files are sealed with it.
CALLBACK_KEY = "a key that seals nothing but examples"


class KnownIds:
    """``task_example1``, ``clm_example1``, … as the event files name them."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def new(self, prefix: str, at: datetime) -> str:
        self._made[prefix] += 1
        return f"t_example{self._made[prefix]:02}" if prefix == "t" else f"{prefix}_example{self._made[prefix]}"

    def secret(self) -> str:
        return "0" * 64


@dataclass
class Account:
    """A workspace, its queues and secrets on moto, and what its functions do with an event."""

    deps: Deps
    dynamo: FakeDynamo
    dead_letters_url: str
    tracker_queue_url: str

    def invoke(self, name: str) -> Any:
        handler = import_module(f"{name.partition('-')[0]}.handler").lambda_handler
        return handler(event_of(name), FakeContext())

    def task(self) -> Any:
        return self.deps.store.tasks.read(DEMO, TASK).task

    def row(self) -> PageSync:
        row = self.deps.store.tracker.page_sync(DEMO, TASK)
        assert row is not None
        return row


def event_of(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


# Those who call in the event files.
CALLERS = (
    (PrincipalKind.HUMAN, "alice"),
    (PrincipalKind.SERVICE, "ci"),
    (PrincipalKind.AGENT, "scout"),
    (PrincipalKind.AGENT, "auditor"),
)


def example_token(kind: PrincipalKind, name: str) -> Token:
    """As the event files spell it."""
    return Token(
        id=f"example{kind}{name}",
        workspace=DEMO,
        kind=kind,
        subject=name,
        scopes=frozenset() if kind is PrincipalKind.AGENT else frozenset({ACT_AS}),
        digest=digest("0" * 64),
        created_at=NOON,
        created_by="human:alice",
    )


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, function_environment: None, dynamo: FakeDynamo) -> Iterator[Account]:
    with mock_aws():
        sqs = boto3.client("sqs")
        urls = [sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("dispatch", "dead", "tracker")]
        monkeypatch.setenv("BATON_QUEUE_URL", urls[0])
        monkeypatch.setenv("BATON_DLQ_URL", urls[1])
        monkeypatch.setenv("BATON_TRACKER_QUEUE_URL", urls[2])
        made = boto3.client("secretsmanager").create_secret(Name="callback-key", SecretString=CALLBACK_KEY)
        monkeypatch.setenv("BATON_CALLBACKS_SEALED_BY", made["ARN"])
        forget_all()
        deps = replace(wire(), ids=KnownIds())
        for slug, values in {
            "scout": {"name": "Scout"},
            "auditor": {"name": "Client Repo Auditor"},
            "runner": {"name": "Runner", "runtime": Runtime.RUN, "approval": Approval.AUTO},
        }.items():
            register_agent(deps, human(DEMO), slug, values)
        change_settings(deps, human(DEMO), {"dispatch_delay_seconds": 0})
        for kind, name in CALLERS:
            deps.store.tokens.add_token(example_token(kind, name))
        yield Account(deps, dynamo, *urls[1:])


def needing(account: Account, target: str = "auditor") -> None:
    create_handoff_marker(account.deps, agent("scout", DEMO), marker_body(target_agent=target))


def ready(account: Account) -> None:
    needing(account)
    approve_task(account.deps, human(DEMO), TASK, None)


def claimed(account: Account) -> None:
    ready(account)
    assert claim_next(account.deps, Claimer(by=agent("auditor", DEMO), agent="auditor", worker="laptop-1"))


def handed(account: Account, **changes: Any) -> None:
    """A handoff that a human asked for, and so approved."""
    body = {**json.loads(event_of("api-create_handoff")["body"]), **changes}
    create_handoff(account.deps, human(DEMO), CreateHandoff(message=message_from(body)))


def held(account: Account, **changes: Any) -> None:
    handed(account, **changes)
    assert claim_next(account.deps, Claimer(by=agent("auditor", DEMO), agent="auditor", worker="laptop-1"))


def with_tool(account: Account) -> None:
    values = {"description": "Hands a lead on.", "target_agent": "auditor"}
    variables = (Variable(name="lead_id", required=True),)
    define_tool(account.deps, human(DEMO), "handoff_to_auditor", {**values, "context_variables": variables})


def talking(account: Account) -> None:
    opening = Opening(agent="auditor", message="Is the release ready?", context={})
    start_conversation(account.deps, human(DEMO), opening)


def talked(account: Account) -> None:
    talking(account)
    cancel_task(account.deps, human(DEMO), TASK, None)


def asked_for_nothing(account: Account) -> None:
    held(account, expectations={})


def waiting(account: Account) -> None:
    held(account)
    wait_for_callback(account.deps, WorkerCall(agent("auditor", DEMO), TASK, "clm_example1", "hash"), "research-17")


def asking(account: Account) -> None:
    held(account)
    call = WorkerCall(agent("auditor", DEMO), TASK, "clm_example1", "hash")
    action = json.loads(event_of("api-ask")["body"])
    asked = Asked(kind=QuestionKind.ACTION, text="It broke", tool=action["tool"], arguments=action["arguments"])
    ask_question(account.deps, call, asked)


def permitted(account: Account) -> None:
    asking(account)
    approved = Answer(outcome=Outcome.APPROVED, digest=json.loads(event_of("api-use_approval")["body"])["digest"])
    answer_question(account.deps, human(DEMO), TASK, "qst_example1texample1", approved)


def failed(account: Account) -> None:
    held(account)
    failure = {"type": "error", "description": "It broke"}
    auditor = agent("auditor", DEMO)
    fail_task(account.deps, WorkerCall(auditor, TASK, "clm_example1", "hash"), FailedWork(failure=failure))


def of_runner(account: Account) -> None:
    needing(account, "runner")


def tracked(account: Account) -> None:
    change_settings(account.deps, human(DEMO), {"tracker": {"database": "0" * 32}})


def with_webhook(account: Account) -> None:
    tracked(account)
    open_webhook(account.deps, human(DEMO))


def installed(account: Account) -> None:
    with_webhook(account)
    handshake = {"verification_token": "secret_example_not-a-real-token"}
    receive_webhook(account.deps, f"{DEMO}.{'0' * 64}", NotionEvent(b"", handshake, None))


def with_page(account: Account, page_id: str) -> None:
    """As if the task's page had been made."""
    row = account.row()
    page = PageRef(page_id, "https://www.notion.so/a-page")
    made = replace(row, page=page, version=row.version + 1)
    account.deps.store.commit(DEMO, Save(made), Insert(PageLink(page_id, TASK), PageHeld))


def nothing(_account: Account) -> None:
    """The agents are enough."""


@dataclass(frozen=True)
class Case:
    """``before``: what is there. ``told``: part of the answer's body. ``state``: of the task, after."""

    before: Callable[[Account], None]
    status: int
    told: dict[str, Any] = field(default_factory=dict)
    state: str | None = None


HTTP: dict[str, Case] = {
    "create_handoff_marker-created": Case(nothing, 201, {"success": True, "task_created": True}),
    "create_handoff_marker-base64_body": Case(nothing, 201, {"success": True, "task_created": True}),
    "create_handoff_marker-duplicate": Case(needing, 200, {"duplicate_prevented": True}, "needs"),
    "create_handoff_marker-text_only": Case(nothing, 200, {"task_created": False, "task_id": None}),
    "create_handoff_marker-unknown_target": Case(
        nothing, 422, {"error": "Invalid target_agent: Client. Valid names: Client Repo Auditor, Runner, Scout"}
    ),
    "api-health": Case(nothing, 200, {"status": "ok"}),
    "api-register_agent": Case(nothing, 201, {"slug": "reviewer", "version": 1}),
    "api-get_task": Case(needing, 200, {"id": TASK, "state": "needs"}, "needs"),
    "api-no_token": Case(needing, 401, {"code": "not_authenticated"}, "needs"),
    "api-no_token_of_ours": Case(needing, 403, {"code": "token_refused"}, "needs"),
    "api-unknown_token": Case(needing, 403, {"code": "token_refused"}, "needs"),
    "api-wrong_secret": Case(needing, 403, {"code": "token_refused"}, "needs"),
    "api-approve": Case(needing, 200, {"state": "delegated"}, "delegated"),
    "api-approve_by_agent": Case(needing, 403, {"code": "human_required"}, "needs"),
    "api-claim_next": Case(ready, 200, {"fence": 1, "lease_seconds": 300}, "claimed"),
    "api-claim_next_nothing": Case(nothing, 204),
    "api-claim": Case(ready, 200, {"fence": 1}, "claimed"),
    "api-heartbeat": Case(claimed, 200, {"fence": 1, "state": "claimed"}, "claimed"),
    "api-complete": Case(claimed, 200, {"state": "done", "output": {"verdict": "two flaky tests, fixed"}}, "done"),
    "api-complete_stale": Case(claimed, 409, {"code": "stale_claim"}, "claimed"),
    "api-fail": Case(claimed, 200, {"state": "failed"}, "failed"),
    "api-create_handoff": Case(nothing, 201),
    "api-create_handoff_to_itself": Case(nothing, 409, {"code": "loop_guard", "rule": "self_handoff"}),
    "api-create_handoff_unknown_target": Case(nothing, 422, {"code": "unknown_agent"}),
    "api-get_handoff": Case(handed, 200, {"handoff_id": "ho_example1", "status": "pending"}, "delegated"),
    "api-list_handoffs": Case(handed, 200, {"next_cursor": None}, "delegated"),
    "api-retry_handoff": Case(failed, 201, {}, "failed"),
    "api-complete_with_evidence": Case(held, 200, {"state": "done", "output": {"flaky": 2}}, "done"),
    "api-complete_without_evidence": Case(held, 422, {"code": "criteria_unreported"}, "claimed"),
    "api-fail_with_rollback": Case(held, 200, {"state": "failed"}, "failed"),
    "api-reject": Case(held, 200, {"state": "rejected"}, "rejected"),
    "api-transfer": Case(asked_for_nothing, 200, {"state": "done"}, "done"),
    "api-delegate": Case(held, 200, {"state": "waiting"}, "waiting"),
    "api-wait_callback": Case(held, 200, {"state": "waiting"}, "waiting"),
    "api-ask": Case(held, 201, {"outcome": "open", "tool": "refund", "used_at": None}, "claimed"),
    "api-list_questions": Case(asking, 200, {"next_cursor": None}, "claimed"),
    "api-answer_question": Case(asking, 200, {"outcome": "approved", "answerable": False}, "claimed"),
    "api-use_approval": Case(permitted, 200, {"outcome": "approved"}, "claimed"),
    "api-wait_for_answers": Case(asking, 200, {"state": "waiting"}, "waiting"),
    "api-callback": Case(waiting, 200, {"accepted": True}, "delegated"),
    "api-callback_unknown": Case(waiting, 404, {"code": "not_found"}, "waiting"),
    "api-save_checkpoint": Case(held, 201, {"step_name": "half of them read"}, "claimed"),
    "api-list_checkpoints": Case(held, 200, {"next_cursor": None}, "claimed"),
    "api-defer": Case(needing, 200, {"deferred_until": "2027-01-04T08:00:00.000Z"}, "needs"),
    "api-dismiss": Case(needing, 200, {"state": "cancelled"}, "cancelled"),
    "api-split": Case(needing, 200, {}, "cancelled"),
    "api-approve_many": Case(needing, 200, {}, "delegated"),
    "api-inbox": Case(failed, 200, {"next_cursor": None}),
    "api-acknowledge_inbox": Case(failed, 200, {"acknowledged": 1}),
    "api-pending": Case(handed, 200, {"next_cursor": None}),
    "api-define_tool": Case(nothing, 201, {"name": "handoff_to_auditor", "version": 1}),
    "api-list_tools": Case(with_tool, 200, {"next_cursor": None}),
    "api-get_tool": Case(with_tool, 200, {"name": "handoff_to_auditor", "active": True}),
    "api-tool_schema": Case(with_tool, 200, {"name": "handoff_to_auditor", "description": "Hands a lead on."}),
    "api-preview_tool": Case(with_tool, 200, {"description": "Hands a hot lead on."}),
    "api-dry_run_tool": Case(with_tool, 200, {"ok": True, "would": "Routed to Client Repo Auditor"}),
    "api-give_tools": Case(with_tool, 200, {"slug": "runner", "version": 2}),
    "api-start_conversation": Case(nothing, 201),
    "api-list_conversations": Case(talking, 200, {"next_cursor": None}, "delegated"),
    "api-get_conversation": Case(talking, 200, {"agent": "auditor", "state": "open"}, "delegated"),
    "api-list_messages": Case(talking, 200),
    "api-say": Case(talked, 201, {"conversation_id": "wf_example1"}, "cancelled"),
    "api-say_busy": Case(talking, 409, {"code": "conversation_busy", "task_id": TASK}, "delegated"),
    "api-nested_1000_deep": Case(needing, 400, {"code": "malformed_json"}, "needs"),
    "api-tracker_settings": Case(nothing, 200, {"version": 2}),
    "api-tracker_token": Case(nothing, 204),
    "api-tracker_health": Case(installed, 200, {"configured": True, "status": "ok", "waiting": 0}),
    "api-tracker_webhook": Case(tracked, 201),
    "api-post_entry": Case(nothing, 201, {"entry_type": "decision", "status": "active"}),
    "api-recall": Case(nothing, 200, {"searched": 0, "is_whole": True}),
    "api-open_session": Case(nothing, 201),
    "api-open_session_by_agent": Case(nothing, 403),
    "mcp_door-list_tools": Case(nothing, 200, {"jsonrpc": "2.0", "id": 1}),
    "mcp_door-claim_next": Case(ready, 200, {"jsonrpc": "2.0", "id": 2}, "claimed"),
    "mcp_door-no_token": Case(nothing, 401, {"jsonrpc": "2.0"}),
    "notion_webhook-handshake": Case(with_webhook, 200, {"received": "installed"}),
    "notion_webhook-forged": Case(installed, 401, {"code": "bad_signature"}),
    "wait-await_task": Case(needing, 200, {"id": TASK, "timed_out": True}, "needs"),
    "wait-events": Case(needing, 200, {"next_after": 1}, "needs"),
    "wait-claim": Case(ready, 200, {"fence": 1}, "claimed"),
}
OTHERS = {
    "process_task-bell",
    "process_task-bell_twice",
    "process_task-malformed",
    "sweep_stale_claims-tick",
    "api-get_chain",
    "console-index",
    "console-unknown",
    "notion_webhook-closed_by_person",
}


ELSEWHERE = ("sync_tracker-", "publish_events-")


def test_every_event_file_has_its_test() -> None:
    """Those of sync-tracker and of publish-events have theirs in files of their own."""
    stems = {path.stem for path in EVENTS.glob("*.json") if not path.stem.startswith(ELSEWHERE)}
    assert stems == set(HTTP) | OTHERS


def test_chain_is_drawn(account: Account) -> None:
    held(account)
    answer = account.invoke("api-get_chain")
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert "Status: 🔄 In Progress" in answer["body"]


@pytest.mark.parametrize(("name", "status"), [("console-index", 200), ("console-unknown", 404)])
def test_console_sends_its_files_and_no_others(account: Account, name: str, status: int) -> None:
    answer = account.invoke(name)
    assert answer["statusCode"] == status
    assert "require-trusted-types-for 'script'" in answer["headers"]["Content-Security-Policy"]


def test_callback_is_what_the_next_claimer_gets(account: Account) -> None:
    waiting(account)
    account.invoke("api-callback")
    resume_payload = account.deps.store.tasks.read(DEMO, TASK).resume_payload
    assert resume_payload is not None
    assert resume_payload["callback"] == {"finished": True, "pages": 12}


@pytest.mark.parametrize("name", HTTP)
def test_http_event_is_answered_and_stored(account: Account, name: str) -> None:
    case = HTTP[name]
    case.before(account)
    answer = account.invoke(name)
    body = json.loads(answer.get("body") or "{}")
    assert answer["statusCode"] == case.status, body
    assert case.told.items() <= body.items()
    if case.state is not None:
        assert account.task().state == case.state


def test_created_task_is_in_the_table(account: Account) -> None:
    body = json.loads(account.invoke("create_handoff_marker-created")["body"])
    details = account.deps.store.tasks.read(DEMO, body["task_id"], with_body=True)
    assert details.body is not None
    assert details.body["client_relation_ids"] == ["0c1f5d3a9b7e4c2f8a6d1e3b5c7f9a0d"]
    again = account.invoke("create_handoff_marker-created")
    assert json.loads(again["body"]) == body


def test_closing_in_notion_is_reported_once_and_rings(account: Account) -> None:
    """At the time of the event: a late one is left alone."""
    account.deps = replace(account.deps, clock=FakeClock())
    installed(account)
    needing(account)
    with_page(account, "153104cd-477e-809d-8dc4-ff2d96ae3090")
    boto3.client("sqs").purge_queue(QueueUrl=account.tracker_queue_url)
    app = App(notion_webhook.routes, lambda: account.deps)
    answers = [app(event_of("notion_webhook-closed_by_person")) for _ in range(2)]
    assert [json.loads(answer["body"])["received"] for answer in answers] == ["reported", "repeated"]
    assert account.row().looks == 1
    (notice,) = boto3.client("sqs").receive_message(QueueUrl=account.tracker_queue_url)["Messages"]
    assert json.loads(notice["Body"]) == {"workspace": DEMO, "task_id": TASK}


def test_token_is_kept_under_the_workspaces_name(account: Account) -> None:
    account.invoke("api-tracker_token")
    kept = boto3.client("secretsmanager").get_secret_value(SecretId="baton/demo/notion")
    assert kept["SecretString"] == "ntn_example_not-a-real-token"


@pytest.mark.parametrize("name", ["process_task-bell", "process_task-bell_twice"])
def test_notice_runs_its_task_once(account: Account, name: str) -> None:
    of_runner(account)
    assert account.invoke(name) == {"batchItemFailures": []}
    task = account.task()
    assert (task.state, task.fence) == ("done", 1)
    assert account.deps.store.tasks.read(DEMO, TASK).output["scripted"] is True


def test_malformed_message_goes_to_the_dead_letters_and_the_rest_is_handled(account: Account) -> None:
    of_runner(account)
    assert account.invoke("process_task-malformed") == {"batchItemFailures": []}
    assert account.task().state == "done"
    received = boto3.client("sqs").receive_message(QueueUrl=account.dead_letters_url, MessageAttributeNames=["All"])
    (letter,) = received["Messages"]
    assert json.loads(letter["Body"]) == {"workspace": "demo", "agent": "runner"}
    assert "task_id" in letter["MessageAttributes"]["reason"]["StringValue"]


def test_tick_tells_what_was_looked_at(account: Account) -> None:
    claimed(account)
    assert account.invoke("sweep_stale_claims-tick") == {
        "looked_at": 0,
        "failed": 0,
        "complete": True,
        "oldest_ready_seconds": 0.0,
        "reasons": {},
    }


class Gone(NoFaults):
    def reach(self, operation: str, key: object, *, writes: bool) -> str | None:
        raise refusal("ResourceNotFoundException", operation)


def test_token_is_not_called_wrong_when_the_table_is_gone(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    account.dynamo.fault_source = Gone()
    answer = account.invoke("api-get_task")
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (500, "internal")
    assert "0" * 12 not in capsys.readouterr().out  # as in a token; four are in a time now and then
