"""What people decided, as a Testimony Record: what the public validator says of it, and that no change of it passes."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from testimony_validate import digest_of, validate

from baton.services.tasks.sweep import sweep
from baton_cli import testimony
from functions.cli.conftest import Terminal
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.soak import scaled
from support.ids import CountingIds
from support.worlds.http_agents import message
from support.worlds.world import agent, human

ALICE, CODER, ARCHITECT = human(), agent("auto-code"), agent("architect")
BOB = replace(ALICE, id="bob")
PAY = {"kind": "action", "text": "It broke", "tool": "pay", "arguments": {"amount": 100, "to": "Ada"}}
MUTATIONS, FORGERIES = scaled(1_000, 20), scaled(60, 10)


@dataclass(frozen=True)
class Decided:
    """The table of a company, and what goes on from it."""

    dynamo: FakeDynamo
    time: datetime
    ids: CountingIds


# The first company's: to make one takes longer than all else.
DECIDED: list[Decided] = []


class Company:
    """A workspace in which people have decided in each way that there is."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self.gateway = terminal, terminal.api.gateway
        store, clock = terminal.world.store, terminal.world.clock
        assert isinstance(store, InMemoryStore)
        if DECIDED:
            (decided,) = DECIDED
            store.dynamo.take_over(decided.dynamo)
            clock.time = decided.time
            self.gateway.deps = replace(self.gateway.deps, ids=copy.deepcopy(decided.ids))
            return
        terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
        self.handoffs()
        self.questions()
        clock.advance(120)
        kept = FakeDynamo()
        kept.take_over(store.dynamo)
        ids: Any = self.gateway.deps.ids
        DECIDED.append(Decided(kept, clock.time, copy.deepcopy(ids)))

    def post(self, by: Any, path: str, **body: Any) -> Any:
        self.terminal.world.clock.advance(2)
        reply = self.gateway.post(by, path, body)
        assert reply.status in {200, 201}, reply.text
        return reply.json

    def asked_for(self) -> str:
        body = message("architect", "reviewer")
        return str(self.post(ARCHITECT, "/handoffs", **body)["task"]["id"])

    def handoffs(self) -> None:
        settings = {"dispatch_delay_seconds": 30}
        assert self.gateway.put(ALICE, "/workspace/settings", settings).status == 200
        done, undone, dismissed, split, _open = (self.asked_for() for _ in range(5))
        self.post(ALICE, f"/tasks/{done}/approve")
        self.terminal.world.clock.advance(60)
        self.post(agent("reviewer"), f"/tasks/{done}/claim")
        self.post(ALICE, f"/tasks/{undone}/approve")
        self.post(BOB, f"/tasks/{undone}/undo")
        self.post(BOB, f"/tasks/{undone}/approve-next")
        self.post(ALICE, f"/tasks/{dismissed}/dismiss", reason="Not needed \u202e\u00fc")
        self.post(ALICE, f"/tasks/{split}/split", parts=[{"summary": "One"}, {"summary": "Two"}])
        own = {"source": {"agent": "architect"}, "target": {"agent": "reviewer", "reason": "By hand"}}
        self.post(ALICE, "/handoffs", **own)

    def questions(self) -> None:
        claim = self.terminal.agents.begun()
        at = f"/tasks/{claim['task']['id']}"

        def ask(**said: Any) -> Any:
            return self.post(CODER, f"{at}/ask", **{"claim_id": claim["claim_id"], **PAY, **said})

        def answer(question: Any, by: Any = ALICE, **said: Any) -> None:
            seen = {"outcome": "approved", "digest": question["digest"]}
            self.post(by, f"{at}/questions/{question['id']}/answer", **(seen | said))

        def use(question: Any, digest: str | None = None) -> None:
            body = {"claim_id": claim["claim_id"], "digest": digest or question["digest"]}
            self.post(CODER, f"{at}/questions/{question['id']}/use", **body)

        used, by_two, changed, refused, revoked, _open = (ask(needed=1 + (n == 1)) for n in range(6))
        text = ask(kind="text", tool=None, arguments={}, text="Which?")
        answer(used)
        use(used)
        answer(by_two)
        answer(by_two, BOB)
        use(by_two)
        answer(changed, arguments={"amount": 50})
        found = self.gateway.send(ALICE, "GET", f"{at}/questions/{changed['id']}").json
        use(changed, found["approved_digest"])
        answer(refused, outcome="refused", digest=None, reason="Too much")
        answer(revoked)
        self.post(ALICE, f"{at}/questions/{revoked['id']}/revoke", reason="A mistake")
        answer(text, outcome="answered", digest=None, answer="This")
        late = ask(until=self.after(30))
        self.terminal.world.clock.advance(31)
        assert sweep(self.terminal.world.deps).failed == 0
        stood = ask(tool="mail")
        answer(stood, standing={"for": "tool"})
        use(ask(tool="mail", arguments={"to": "Bob"}))
        assert late["outcome"] == "open"

    def after(self, seconds: float) -> str:
        return (self.terminal.world.clock.now() + timedelta(seconds=seconds)).isoformat()

    def export(self, *line: str) -> list[dict[str, Any]]:
        code, out, err = self.terminal.runs("export", "testimony", *(line or ("--since", "1d")))
        assert code == 0, err
        return [json.loads(each) for each in out.splitlines()]


@pytest.fixture
def company(terminal: Terminal) -> Company:
    return Company(terminal)


def of(record: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [each for each in record if all(each.get(name) == value for name, value in wanted.items())]


def of_tasks(record: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the changes of the workspace."""
    return [each for each in record if "-chg_" not in each["id"]]


def lines(record: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in record)


def test_the_validator_gives_the_record_its_highest_level(company: Company) -> None:
    report = validate(lines(company.export()))
    assert [each for each in report.checks if not each["ok"]] == []
    assert (report.level, report.scope) == ("TR-4", "acts")


def test_each_decision_says_who_decided_and_whether_it_was_begun(company: Company) -> None:
    record = of_tasks(company.export())
    told = [
        (each["action_type"], each["x-baton-outcome"], each["verdict"], each["executed"], each["risk_class"])
        for each in of(record, type="decision")
        if each["x-baton-outcome"] != "approved" or each["risk_class"] == "high"
    ]
    assert sorted(told) == sorted(
        [
            ("handoff:reviewer", "approved", "permitted", True, "high"),
            ("handoff:reviewer", "undone", "refused", False, "high"),
            ("handoff:reviewer", "approved", "permitted", False, "high"),
            ("handoff:reviewer", "dismissed", "refused", False, "high"),
            ("handoff:reviewer", "split", "refused", False, "high"),
            ("handoff:auto-code", "approved", "permitted", True, "high"),
            *[("tool:pay", "approved", "permitted", True, "high")] * 3,
            ("tool:pay", "refused", "refused", False, "high"),
            ("tool:pay", "revoked", "refused", False, "high"),
            ("tool:pay", "expired", "refused", False, "low"),
            ("question:text", "answered", "permitted", False, "low"),
            ("tool:mail", "approved", "permitted", False, "high"),
            ("tool:mail", "approved", "permitted", True, "high"),
        ]
    )
    (refusal,) = of(record, type="decision", **{"x-baton-outcome": "refused"})
    assert refusal["reason"] == "Too much"


def test_of_two_who_were_needed_each_is_an_approval(company: Company) -> None:
    record = company.export()
    pairs = [
        {each["approver"]["id"] for each in of(record, type="approval", decision=decision["id"])}
        for decision in of(record, type="decision", action_type="tool:pay", executed=True)
    ]
    assert {"human:alice", "human:bob"} in pairs


def test_an_approval_given_ahead_says_so_and_each_names_its_entry_of_the_trail(company: Company) -> None:
    record = company.export()
    ahead = of(record, type="approval", **{"x-baton-ahead": True})
    assert {each["decision"].split("-")[1].partition("_")[0] for each in ahead} == {"task", "qst"}
    for each in of(record, type="approval"):
        (decision,) = of(record, id=each["decision"])
        hashes = [entry["hash"] for entry in decision["x-baton-trail"]]
        assert each["x-baton-event-hash"] in hashes
        trail = company.terminal.json("events", "tail", decision["x-baton-task"])["events"]
        assert {*hashes} <= {entry["hash"] for entry in trail}


def test_what_a_human_hands_off_themselves_counts_as_no_approval(company: Company) -> None:
    (own,) = of(of_tasks(company.export()), type="decision", proposed_by={"id": "human:alice", "kind": "human"})
    assert (own["risk_class"], "approval" in own) == ("low", False)


def test_changes_of_the_workspace_are_decisions_with_the_old_and_the_new_value(company: Company) -> None:
    record = [each for each in company.export() if "-chg_" in each["id"]]
    (settings,) = of(record, type="decision", action_type="workspace:settings")
    assert (settings["proposed_by"]["id"], settings["verdict"], settings["executed"]) == (
        "human:alice",
        "permitted",
        True,
    )
    assert settings["x-baton-change"]["after"] == {"dispatch_delay_seconds": 30}
    assert settings["x-baton-change"]["before"] == {"dispatch_delay_seconds": 3}
    assert of(record, type="decision", action_type="workspace:agents")


def test_second_administrators_approval_is_an_approval_of_the_record(company: Company) -> None:
    company.post(ALICE, "/tokens", kind="human", subject="alice", right="administrator")
    rule = {"groups": {"leads": ["ann", "bob"]}}
    assert company.gateway.put(ALICE, "/workspace/settings", rule).status == 200, "nobody else administers yet"
    company.post(ALICE, "/tokens", kind="human", subject="ann", right="administrator")
    asked = company.gateway.put(human(name="ann"), "/workspace/settings", {"groups": {}}).json
    company.post(ALICE, f"/workspace/changes/{asked['id']}/approve", digest=asked["digest"])
    other = company.gateway.put(human(name="ann"), "/workspace/settings", {"tracker": {"database": "a" * 32}}).json
    company.post(ALICE, f"/workspace/changes/{other['id']}/refuse", reason="Not now")
    company.gateway.put(ALICE, "/tracker/token", {"token": "ntn_hush"})
    company.terminal.world.clock.advance(120)
    record = company.export()
    report = validate(lines(record))
    assert [each for each in report.checks if not each["ok"]] == []
    (approval,) = of(record, type="approval", decision=f"decision-{asked['id']}")
    assert (approval["approver"]["id"], approval["x-baton-digest"]) == ("human:alice", asked["digest"])
    (refusal,) = of(record, id=f"decision-{other['id']}")
    assert (refusal["verdict"], refusal["reason"], refusal["executed"]) == ("refused", "Not now", False)
    (token,) = of(record, type="decision", action_type="workspace:tracker")
    assert (token["x-baton-change"]["names"], token["x-baton-change"]["after"]) == (["token"], {"token": "set"})


def ready_work(company: Company) -> str:
    """Returns open work that Alice approved, and that a rule holds back from the reviewer until Bob approves."""
    rule = {"target": "reviewer", "people": ["bob"]}
    assert company.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    request = {"source": {"agent": "architect"}, "target": {"reason": "Look"}}
    task: str = company.post(ARCHITECT, "/handoffs", **request)["task"]["id"]
    company.post(ALICE, f"/tasks/{task}/approve")
    company.terminal.world.clock.advance(60)
    return task


def decisions_on(company: Company, task: str) -> list[tuple[str, str, bool, list[str]]]:
    """Returns action, outcome, whether it was begun, and the approvers of each decision in the record, which passes
    the validator."""
    company.terminal.world.clock.advance(120)
    record = company.export()
    assert [each for each in validate(lines(record)).checks if not each["ok"]] == []
    return sorted(
        (
            each["action_type"],
            each["x-baton-outcome"],
            each["executed"],
            [by["approver"]["id"] for by in of(record, type="approval", decision=each["id"])],
        )
        for each in of(record, type="decision", **{"x-baton-task": task})
    )


def test_approval_of_ready_work_is_a_decision_of_its_own(company: Company) -> None:
    task = ready_work(company)
    company.post(BOB, f"/tasks/{task}/approve")
    before = [
        ("handoff:any agent", "approved", False, ["human:alice"]),
        ("handoff:reviewer", "approved", False, ["human:bob"]),
    ]
    assert decisions_on(company, task) == before
    company.post(agent("reviewer"), f"/tasks/{task}/claim")
    assert decisions_on(company, task) == [(*each[:2], True, each[3]) for each in before]
    (entry,) = of(company.export(), type="decision", **{"x-baton-task": task, "action_type": "handoff:reviewer"})
    assert [each["type"] for each in entry["x-baton-trail"]] == [
        "handoff_initiated",
        "approval_given",
        "handoff_received",
    ]
    assert entry["x-baton-needed"] == 1


def test_approval_of_ready_work_is_begun_only_by_a_claim_that_it_let_in(company: Company) -> None:
    task = ready_work(company)
    company.post(BOB, f"/tasks/{task}/approve")
    claimed = company.post(CODER, f"/tasks/{task}/claim")
    (_, of_bob) = decisions_on(company, task)
    assert of_bob == ("handoff:reviewer", "approved", False, ["human:bob"])
    company.post(CODER, f"/tasks/{task}/release", claim_id=claimed["claim_id"])
    company.terminal.world.clock.advance(60)
    company.post(agent("reviewer"), f"/tasks/{task}/claim")
    (_, of_bob) = decisions_on(company, task)
    assert of_bob == ("handoff:reviewer", "approved", True, ["human:bob"])


def test_later_approval_of_a_returned_task_is_without_the_approval_of_ready_work(company: Company) -> None:
    assert company.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 300}).status == 200
    task = ready_work(company)
    company.post(BOB, f"/tasks/{task}/approve")
    company.post(ALICE, f"/tasks/{task}/undo")
    company.post(ALICE, f"/tasks/{task}/approve")
    assert decisions_on(company, task) == [
        ("handoff:any agent", "approved", False, ["human:alice"]),
        ("handoff:any agent", "undone", False, ["human:alice", "human:alice"]),
        ("handoff:reviewer", "undone", False, ["human:bob", "human:alice"]),
    ]
    record = of(company.export(), type="decision", **{"x-baton-task": task})
    assert [each["type"] for each in record[-1]["x-baton-trail"]] == ["handoff_initiated", "approved"]


def test_approval_after_an_ended_one_of_the_same_person_names_its_own_entry_of_the_trail(company: Company) -> None:
    rule = {"target": "reviewer", "people": ["bob", "carl"], "needed": 2}
    assert company.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    for name in ("bob", "carl"):
        company.post(ALICE, "/tokens", kind="human", subject=name, right="approver")
    task = company.asked_for()
    company.post(BOB, f"/tasks/{task}/approve")
    company.post(ALICE, "/people/bob/end-approvals")
    company.post(replace(ALICE, id="carl"), f"/tasks/{task}/approve")
    company.post(BOB, f"/tasks/{task}/approve")
    (told,) = decisions_on(company, task)
    assert (told[0], told[1], sorted(told[3])) == ("handoff:reviewer", "approved", ["human:bob", "human:carl"])
    record = company.export()
    (decision,) = of(record, type="decision", **{"x-baton-task": task})
    (of_bob,) = of(record, type="approval", decision=decision["id"], approver={"id": "human:bob", "kind": "human"})
    last = decision["x-baton-trail"][-1]
    assert (of_bob["x-baton-decided"], of_bob["x-baton-event-hash"]) == (last["type"], last["hash"])
    assert last["type"] == "approved"


def test_the_same_span_is_the_same_record_whatever_came_after(company: Company) -> None:
    first = company.export()
    until = first[-1]["at"]
    company.post(ALICE, f"/tasks/{company.asked_for()}/approve")
    company.terminal.world.clock.advance(120)
    since = of(first, type="scope")[0]["x-baton-since"]
    assert company.export("--since", since, "--until", until) == first
    assert len(company.export()) > len(first)


def test_entries_that_wait_in_files_come_in_the_same_order(company: Company) -> None:
    first = company.export()
    company.terminal.monkeypatch.setattr(testimony, "RUN", 3)
    assert company.export() == first


def test_where_nobody_decided_there_is_no_record(terminal: Terminal) -> None:
    code, out, err = terminal.runs("export", "testimony")
    assert (code, out, "nobody has decided anything" in err) == (1, "", True)


@pytest.mark.parametrize("line", [("testimony", "--into", "x"), ("task_1", "--since", "1d")])
def test_what_is_about_something_else_is_refused(terminal: Terminal, line: tuple[str, ...]) -> None:
    assert terminal.runs("export", *line)[0] == 2


def test_an_exported_record_is_verified(company: Company, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text(lines(company.export()))
    verdict = company.terminal.json("events", "verify", str(path))
    assert (verdict["intact"], verdict["broken_at"]) == (True, None)
    screen = company.terminal.screen("events", "verify", str(path))
    assert "is what the trails tell" in " ".join(screen.split()), "a long name of a file is wrapped"


ODD_NUMBERS = '{"a": 1.50, "b": 1e5, "c": -0, "d": 12345678901234567890123456789, "e": 0.10000000000000000001}'


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize(
    ("attribute", "old", "new"),
    [("action", "1.50", "9.50"), ("decisions", '"alice"', '"bob"'), ("outcome", "approved", "refused")],
)
def test_question_that_was_changed_in_the_table_is_not_exported(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, attribute: str, old: str, new: str, *, is_old: bool
) -> None:
    if is_old:  # events of an earlier release have no digest of the question
        for module in ("ask_question", "answer_question"):
            monkeypatch.setattr(f"baton.services.questions.{module}.content_digest", lambda _: None)
    claim, gateway = terminal.agents.begun(), terminal.api.gateway
    at, claim_id = f"/tasks/{claim['task']['id']}", claim["claim_id"]
    body = {"claim_id": claim_id, "kind": "action", "text": "It broke", "tool": "pay", "arguments": "ODD"}
    asked = gateway.post(CODER, f"{at}/ask", json.dumps(body).replace('"ODD"', ODD_NUMBERS)).json
    answer = {"outcome": "approved", "digest": asked["digest"]}
    assert gateway.post(ALICE, f"{at}/questions/{asked['id']}/answer", answer).status == 200
    assert gateway.post(CODER, f"{at}/questions/{asked['id']}/use", {"claim_id": claim_id, **answer}).status == 422
    terminal.world.clock.advance(120)
    assert terminal.runs("export", "testimony", "--since", "1d")[0] == 0
    verdict = gateway.get(ALICE, f"{at}/events/verify").json
    assert (verdict["matches_task"], verdict["not_covered"]) == (True, [asked["id"]] if is_old else [])
    store: Any = terminal.world.store
    (item,) = (each for (_, sk), each in store.dynamo.contents().items() if sk.startswith("QUESTION"))
    store.dynamo.put({**item, attribute: {"S": item[attribute]["S"].replace(old, new)}})
    assert gateway.get(ALICE, f"{at}/events/verify").json["matches_task"] is False
    code, _, err = terminal.runs("export", "testimony", "--since", "1d")
    assert (code, "differs from its digest in the trail" in " ".join(err.split())) == (1, True)
    use = {"claim_id": claim_id, "digest": asked["digest"]}
    assert gateway.post(CODER, f"{at}/questions/{asked['id']}/use", use).code == "receipt_refused"


@pytest.mark.parametrize("text", ["", "{", "[]\n", "null\n", '{"a": 1}\n', "[" * 100_000])
def test_what_is_no_record_is_refused(terminal: Terminal, tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text(text)
    assert terminal.runs("events", "verify", str(path))[0] == 1
    assert terminal.runs("events", "verify", str(tmp_path / "none"))[0] == 2


def test_an_exported_trail_is_verified_too(company: Company, tmp_path: Path) -> None:
    task = of(of_tasks(company.export()), type="decision")[0]["x-baton-task"]
    trail, path = company.terminal.json("export", task), tmp_path / "task_1.json"
    path.write_text(json.dumps(trail, indent=2))
    assert company.terminal.json("events", "verify", str(path))["entries"] == len(trail["events"])
    trail["events"][1]["principal"]["id"] = "mallory"
    path.write_text(json.dumps(trail, indent=2))
    code, out, _ = company.terminal.runs("events", "verify", str(path), "--json")
    assert (code, json.loads(out)["broken_at"]) == (1, 2)


def test_an_entry_that_was_added_to_an_exported_trail_is_found(company: Company, tmp_path: Path) -> None:
    task = of(of_tasks(company.export()), type="decision")[0]["x-baton-task"]
    events, path = company.terminal.json("export", task)["events"], tmp_path / "task_1.json"
    last = events[-1]
    added = {**last, "seq": last["seq"] + 1}
    content = {name: value for name, value in added.items() if name not in {"prev_hash", "hash"}}
    told = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + last["hash"]
    added |= {"prev_hash": last["hash"], "hash": hashlib.sha256(told.encode()).hexdigest()}
    path.write_text(json.dumps({"events": [*events, added]}, indent=2))
    code, out, _ = company.terminal.runs("events", "verify", str(path), "--json")
    assert (code, json.loads(out)["broken_at"]) == (1, added["seq"])


# ---- changes ---------------------------------------------------------------------------------------------------------

Record = list[dict[str, Any]]
Mutation = Callable[[Record, random.Random], None]


def one(record: Record, by: random.Random, kind: str) -> dict[str, Any]:
    return by.choice(of(record, type=kind))


def _approver(record: Record, by: random.Random) -> None:
    who = one(record, by, "approval")["approver"]
    who["id"] = by.choice([each for each in ("human:mallory", "human:bob", "human:alice") if each != who["id"]])


def _digest(record: Record, by: random.Random) -> None:
    found = by.choice([each for each in record if "x-baton-digest" in each])
    at = by.randrange(64)
    old = found["x-baton-digest"]
    found["x-baton-digest"] = old[:at] + by.choice("0123456789abcdef".replace(old[at], "")) + old[at + 1 :]


def _event_hash(record: Record, by: random.Random) -> None:
    found = one(of_tasks(record), by, "decision")["x-baton-trail"]
    by.choice(found)["hash"] = f"{by.getrandbits(256):064x}"


def _time(record: Record, by: random.Random) -> None:
    """To that of a neighbour, or by a millisecond: the order may stay as it was."""
    found, near = by.choice(record), by.choice(record)
    moved = f"{found['at'][:-4]}{(int(found['at'][-4:-1]) + 1) % 1000:03d}Z"
    found["at"] = near["at"] if near["at"] != found["at"] else moved


def _verdict(record: Record, by: random.Random) -> None:
    found = one(record, by, "decision")
    found["verdict"] = "refused" if found["verdict"] == "permitted" else "permitted"
    found.setdefault("reason", "No")


def _executed(record: Record, by: random.Random) -> None:
    found = one(record, by, "decision")
    found["executed"] = not found["executed"]


def _risk(record: Record, by: random.Random) -> None:
    found = one(record, by, "decision")
    found["risk_class"] = by.choice([each for each in ("low", "medium", "high") if each != found["risk_class"]])


def _proposer(record: Record, by: random.Random) -> None:
    one(record, by, "decision")["proposed_by"]["id"] = "agent:mallory"


def _reason(record: Record, by: random.Random) -> None:
    by.choice([each for each in record if "reason" in each])["reason"] += "!"


def _dropped(record: Record, by: random.Random) -> None:
    del record[by.randrange(len(record))]


def _doubled(record: Record, by: random.Random) -> None:
    at = by.randrange(len(record))
    record.insert(by.randrange(at, len(record)) + 1, copy.deepcopy(record[at]))


def _moved(record: Record, by: random.Random) -> None:
    first, second = by.sample(range(len(record)), 2)
    record[first], record[second] = record[second], record[first]


def _added(record: Record, by: random.Random) -> None:
    made = {**copy.deepcopy(by.choice(record)), "id": f"added-{by.getrandbits(32)}"}
    record.insert(by.randrange(len(record) + 1), made)


def _field_gone(record: Record, by: random.Random) -> None:
    found = by.choice(record)
    del found[by.choice(sorted(found))]


def _field_more(record: Record, by: random.Random) -> None:
    by.choice(record)[by.choice(["x-note", "disposition", "outcome", "_note"])] = "approved"


def _covers(record: Record, by: random.Random) -> None:
    covered = record[-1]["covers"]
    covered.pop(by.randrange(len(covered)))


def _integrity(record: Record, by: random.Random) -> None:
    record[-1][by.choice(["id", "digest", "scheme", "at"])] = "signature"


def _scope(record: Record, by: random.Random) -> None:
    (scope,) = of(record, type="scope")
    scope.update(by.choice([{"acts": False}, {"x-baton-since": "2026-01-01T00:00:00.000Z"}, {"id": "scope-2"}]))


def _chain(record: Record, by: random.Random) -> None:
    by.choice(record)["x-baton-chain"] = f"{by.getrandbits(256):064x}"


CHANGES: tuple[Mutation, ...] = (
    *(_approver, _digest, _event_hash, _time, _verdict, _executed, _risk, _proposer, _reason),
    *(_dropped, _doubled, _moved, _added, _field_gone, _field_more, _covers, _integrity, _scope, _chain),
)
# What is done to what is decided; whoever does it can write the record's own hashes anew.
FORGED: tuple[Mutation, ...] = (
    *(_approver, _digest, _event_hash, _verdict, _executed, _risk, _proposer, _reason, _dropped, _added, _field_more),
)


def changed(record: Record, seed: int, changes: tuple[Mutation, ...]) -> Record:
    """Returns another record: a change that changes nothing isn't counted, and tried again."""
    by = random.Random(seed)
    while True:
        found = copy.deepcopy(record)
        by.choice(changes)(found, by)
        if found != record:
            return found


def first_changed(record: Record, other: Record) -> int:
    """The number of the first line that isn't the record's."""
    pairs = zip(record, other, strict=False)
    return next((at for at, (one, two) in enumerate(pairs, 1) if one != two), min(len(record), len(other)) + 1)


def test_changes_of_a_record_are_refused_by_the_line_that_was_changed_first(company: Company, tmp_path: Path) -> None:
    record, path = company.export(), tmp_path / "record.jsonl"
    judged = 0
    for seed in range(MUTATIONS):
        other = changed(record, seed, CHANGES)
        path.write_text(lines(other))
        code, out, err = company.terminal.runs("events", "verify", str(path), "--json")
        verdict = json.loads(out)
        assert (code, verdict["intact"]) == (1, False), f"{seed}: {err}"
        assert verdict["broken_at"] == first_changed(record, other), f"{seed}: {verdict}"
        judged += validate(lines(other)).level != "TR-4"
    assert judged > MUTATIONS // 2, "what the public validator refuses by itself"


def forged(record: Record) -> Record:
    """Returns the record with its chain and its digest written anew, as anybody can."""
    body, chain = [each for each in record if each["type"] != "integrity"], testimony.START
    integrity = {**record[-1], "covers": [each["id"] for each in body]}
    for each in (*body, integrity):
        if each is integrity:
            integrity["digest"] = f"sha256:{digest_of(body)}"
        each.pop("x-baton-chain")
        told = json.dumps(each, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        chain = each["x-baton-chain"] = hashlib.sha256((chain + told).encode()).hexdigest()
    return [*body, integrity]


def test_a_record_whose_hashes_were_written_anew_is_refused_by_the_trails(company: Company, tmp_path: Path) -> None:
    record, path = company.export(), tmp_path / "record.jsonl"
    assert forged(copy.deepcopy(record)) == record
    passed = 0
    for seed in range(FORGERIES):
        other = forged(changed(record[:-1], seed, FORGED) + copy.deepcopy(record[-1:]))
        path.write_text(lines(other))
        company.terminal.world.clock.advance(60)
        code, out, err = company.terminal.runs("events", "verify", str(path), "--json")
        assert code == 1, f"{seed}: {err}"
        assert json.loads(out)["broken_at"] == first_changed(record, other), seed
        passed += validate(lines(other)).level == "TR-4"
    assert passed, "some of them pass with the validator: it can't know the trails"
