"""Those who ask for work, and those who decide about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import PrincipalKind
from baton.domain.agents.agent import Approval, Requeue, Runtime
from baton.domain.alerts.alert import Severity
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.entry_index import Question
from baton.domain.tasks.calls import HumanCall, Seen
from baton.services.agents.register_agent import register_agent
from baton.services.alerts.handle_alert import acknowledge_alert, resolve_alert, snooze_alert
from baton.services.alerts.list_alerts import AlertFilter, list_alerts
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.claims.release_claim import release_claim
from baton.services.claims.wait_for_callback import answer_callback
from baton.services.conversations.converse import Opening, SaidMessage, say, start_conversation
from baton.services.escalations.close_review import Closing, close_review
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.memory.end_entry import delete_entry, withdraw_entry
from baton.services.memory.list_entries import EntryFilter, list_entries
from baton.services.memory.post_entry import post_entry
from baton.services.memory.recall import recall
from baton.services.tasks.approve_many import ApprovalRequest, approve_many
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import defer_task, dismiss_task
from simulation.actors.actor_context import ActorContext, NothingThere
from simulation.actors.people import ALL, GUARDED_TYPE, PEOPLE, REPORT, RUN, SERVICE, agent, human
from simulation.habits import Focus
from simulation.ports import SUMMARY, WORKSPACE
from simulation.requests import Answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey

CHANGES: tuple[dict[str, Any], ...] = (
    {"active": True},
    {"active": True},
    {"active": False},
    {"runtime": Runtime.RUN},
    {"runtime": Runtime.PULL},
    {"approval": Approval.AUTO},
    {"approval": Approval.MANUAL},
    {"max_concurrent": 1},
    {"max_concurrent": 2},
    {"max_concurrent": None},
    {"requeue": Requeue.NEEDS},
    {"requeue": Requeue.SAME},
    {"produces": (REPORT, "plan")},
    {"produces": (REPORT,)},
)


DECISIONS = frozenset({"next", "undo", "defer", "dismiss", "split"})


class Client:
    """One of several: it asks and decides by turns."""

    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim = context, context.sim
        self._draw, self._focus = context.draw, context.habits.focus

    def act(self) -> None:
        asking, deciding = self._asking(), self._deciding()
        while not self._sim.is_stopping:
            self._context.rest(20)
            which = self._draw(10)
            with suppress(NothingThere):
                if which:
                    self._sim.pick(asking if which in (1, 2, 3, 4) else deciding)()

    def _asking(self) -> list[Callable[[], object]]:
        own: dict[Focus, list[Callable[[], object]]] = {
            Focus.MARKERS: [self._mark],
            Focus.BRANCHES: [self._hand_off],
            Focus.ENDS: [self._hand_off],
            Focus.RUNS: [self._talk, self._hand_off],
            Focus.TALKS: [self._talk],
            Focus.QUESTIONS: [self._hand_off],
            Focus.TRUST: [self._hand_off],
        }
        return own.get(self._focus, [self._mark, self._mark, self._hand_off, self._talk])

    def _deciding(self) -> list[Callable[[], object]]:
        seldom = self._sim.pick([self._change_agent, self._raise_alert, self._handle_alert, self._use_board])
        deciding = [self._decide, self._decide, self._approve_many]
        usual = [*deciding, self._end, self._take_back, self._retry, self._let_through, self._call_back, seldom]
        more: dict[Focus, list[Callable[[], object]]] = {
            Focus.ENDS: [self._end] * 9,
            Focus.RETRIES: [self._retry, self._retry, self._end, self._let_through] * 3,
            Focus.WAITS: [self._call_back] * 20,
            Focus.MARKERS: [self._end] * 9,
            Focus.RUNS: [self._decide] * 9,
            Focus.QUESTIONS: [self._decide] * 9,
            Focus.TRUST: [*[self._decide] * 5, *[self._approve_together] * 5],
            Focus.BOARD: [self._use_board] * 20,
            Focus.ALERTS: [*[self._raise_alert] * 20, *[self._handle_alert] * 5],
        }
        rare: dict[str, Callable[[], object]] = {
            "take back": self._take_back,
            "retry": self._retry,
            "review": self._let_through,
            "agent": self._change_agent,
            "alert": self._handle_alert,
            "off": self._switch_off,
            "roll back": self._retry,
        }
        raised = [rare.get(each, self._decide) for each in self._context.habits.raised]
        return usual + more.get(self._focus, []) + raised * 5

    # Asking

    def _mark(self) -> None:
        sim, pair = self._sim, self._context.habits.pair
        source = sim.pick(pair)
        body = {
            "source_agent": source,
            "target_agent": sim.pick([each for each in pair if each != source]),
            "escalation_reason": f"because {self._draw(1000)}",
            "source_digest_url": "https://notes.example/1",
            "create_task": self._draw(12) != 11,
            "task_priority": sim.pick(["P1", "P0", "P2"]),
        }
        by = sim.pick([agent(source), agent(source), SERVICE, human()])
        self._context.ask(
            "marker", by, lambda idempotency_key: create_handoff_marker(sim.deps, by, body, idempotency_key)
        )

    def _hand_off(self) -> None:
        sim, is_runs = self._sim, self._focus is Focus.RUNS
        author = self._context.person(PEOPLE[0] if self._context.habits.has_questions else "bob")  # may be asked, too
        by = sim.pick([author, agent(sim.pick(ALL)), author, SERVICE])
        source = by.id if by.kind is not PrincipalKind.SERVICE else sim.pick(ALL)
        targets: tuple[str | None, ...] = RUN if is_runs else self._context.targets
        target = sim.pick([each for each in targets if each != source] or [None])
        handoff = {**self._context.message(target), "source": {"agent": source}}
        if self._draw(4) == 3 or is_runs or self._focus is Focus.ENDS:
            most = {"max_handoffs": 2 + self._draw(4)} if self._draw(2) else {}
            handoff["budget"] = {"max_model_calls": 2 + self._draw(2) if is_runs else 1 + self._draw(4), **most}
        asked = CreateHandoff(message=message_from(handoff), work_type=self._work_type())
        self._context.ask("hand off", by, lambda idempotency_key: create_handoff(sim.deps, by, asked, idempotency_key))

    def _work_type(self) -> str | None:
        return self._sim.pick([None, None, GUARDED_TYPE]) if self._context.habits.has_trust else None

    def _talk(self) -> None:
        sim, by = self._sim, self._sim.pick([human("carol"), human("carol"), human("dave"), agent("c")])
        begun = self._context.conversations()
        if begun and self._draw(3 if self._focus is Focus.TALKS else 2):
            workflow = sim.pick(begun)
            self._context.ask(
                "say", by, lambda idempotency_key: say(sim.deps, by, workflow, SaidMessage("go on"), idempotency_key)
            )
            return
        opening = Opening(agent=sim.pick(ALL), message="hello", context={})
        self._context.ask(
            "talk", by, lambda idempotency_key: start_conversation(sim.deps, by, opening, idempotency_key)
        )

    # Deciding

    def _decide(self) -> None:
        sim, task_id = self._sim, self._context.some_task("needs", "delegated")
        by = sim.pick([self._context.person(f"h{self._draw(3)}")] * 9 + [SERVICE, agent("a")])
        until = sim.clock.now() + timedelta(seconds=1 + self._draw(600))
        # What they had before them: mostly nobody says so, and now and then it is another revision than there is.
        seen = self._seen(task_id)
        parts: list[dict[str, Any]] = []
        for number in range(2 + self._draw(2)):
            target = {"target": {"agent": sim.pick(ALL)}} if self._draw(2) else {}
            parts.append({"summary": f"part {number}", **target})
        raised = [each for each in self._context.habits.raised if each in DECISIONS] * 8
        verb = sim.pick(["approve"] * 8 + ["next", "undo", "undo", "defer", "dismiss", "split", *raised])
        acts: dict[str, Callable[[IdempotencyKey | None], Any]] = {
            "approve": lambda idempotency_key: approve_task(sim.deps, by, task_id, seen, idempotency_key),
            "next": lambda idempotency_key: approve_task_next(sim.deps, by, task_id, seen, idempotency_key),
            "undo": lambda idempotency_key: undo_approval(sim.deps, by, task_id, idempotency_key),
            "defer": lambda idempotency_key: defer_task(
                sim.deps, HumanCall(by, task_id, idempotency_key=idempotency_key), until
            ),
            "dismiss": lambda idempotency_key: dismiss_task(sim.deps, by, task_id, "no", idempotency_key),
            "split": lambda idempotency_key: split_task(
                sim.deps, HumanCall(by, task_id, idempotency_key=idempotency_key), list(map(message_from, parts))
            ),
        }
        outcome = self._context.ask(verb, by, acts[verb])
        if verb in ("approve", "next") and seen is not None and isinstance(outcome, Answered):
            sim.oracle.accepted.is_approved_as_seen(task_id, seen)

    def _approve_together(self) -> None:
        """People approve one after the other if rules ask for several; also ready work that a rule holds back."""
        heads, states = self._context.ledger.heads, ("needs", "delegated", "next")
        waiting = [each for each, head in heads.items() if head["state"] in states and not head.get("claim")]
        needing = [each for each in waiting if heads[each].get("approval")] if self._draw(3) else waiting
        if not needing:
            raise NothingThere
        sim, task_id = self._sim, self._sim.pick(needing[-4:])
        for name in PEOPLE[:3]:
            by = self._context.person(name)
            self._context.ask("approve", by, partial(approve_task, sim.deps, by, task_id, None))

    def _seen(self, task_id: str) -> Seen | None:
        ledger = self._context.ledger
        head, digest = ledger.heads[task_id], ledger.folds[task_id].get("digest")
        revision, agents = head.get("revision", 1), ledger.agents.get(str(head.get("target_agent"))) or [(0, {})]
        read = Seen(revision, digest)
        looked = replace(read, agent_version=agents[-1][1].get("version"))
        return self._sim.pick([None, Seen(revision), read, read, looked, Seen(7), Seen(revision, "0" * 64)])

    def _approve_many(self) -> None:
        """Each has an answer of its own, and a repeat is answered alike."""
        sim, by = self._sim, self._context.person(f"h{self._draw(3)}")
        wanted = dict.fromkeys(self._context.some_task("needs", "delegated") for _ in range(1 + self._draw(3)))
        asked = [ApprovalRequest(each, self._seen(each), is_for_next=self._draw(6) == 5) for each in wanted]
        most = 1 + len(asked)  # how many there are is remembered, and each answer
        self._context.ask(
            "approve many",
            by,
            lambda idempotency_key: approve_many(sim.deps, by, asked, idempotency_key),
            most_effects=most,
        )

    def _raise_alert(self) -> None:
        """Now and then somebody has gone mad, and raises one after the other."""
        is_mad = self._focus is Focus.ALERTS and self._draw(3) > 0
        by = SERVICE if is_mad else self._sim.pick([agent(self._sim.pick(ALL)), SERVICE, human()])
        for _ in range(self._draw(100) if is_mad else 1):
            if not self._sim.is_stopping:
                self._raise_one(by)

    def _raise_one(self, by: Principal) -> None:
        sim, is_about_a_task = self._sim, self._context.ledger.heads and self._draw(4) == 3
        about = self._context.some_task() if is_about_a_task else None
        request = AlertRequest(kind="stuck", severity=Severity.WARNING, message="look", task_id=about)
        self._context.ask("alert", by, lambda idempotency_key: raise_alert(sim.deps, by, request, idempotency_key))

    def _handle_alert(self) -> None:
        sim, by = self._sim, self._context.person(f"h{self._draw(3)}")
        page = self._context.look(lambda: list_alerts(sim.deps, human(), AlertFilter(), 20, None))
        if page and page.items:
            alert, later = sim.pick(page.items), sim.clock.now() + timedelta(hours=1)
            ways: list[tuple[Callable[..., Any], Any]] = [
                (acknowledge_alert, "seen"),
                (resolve_alert, "seen"),
                (snooze_alert, later),
            ]
            handle, said = sim.pick(ways)
            self._context.ask(
                "handle alert", by, lambda idempotency_key: handle(sim.deps, by, alert.id, said, idempotency_key)
            )

    def _use_board(self) -> None:
        """Decisions that replace each other, and entries that are taken back or deleted."""
        page = self._context.look(lambda: list_entries(self._sim.deps, human(), EntryFilter(), 10, None))
        known = page.items if page else ()
        if self._draw(2):
            self._context.look(lambda: recall(self._sim.deps, human(), Question(text=SUMMARY)))
        for _ in range(1 + self._draw(3)):
            if known and self._draw(3) == 2:
                self._end_entry(self._sim.pick(known))
            else:
                self._post([entry.id for entry in known if entry.status is not None])

    def _post(self, decisions: list[str]) -> None:
        sim, by = self._sim, self._sim.pick([agent(self._sim.pick(ALL)), SERVICE, human()])
        kind = sim.pick([EntryType.DECISION, EntryType.DECISION, EntryType.WARNING, EntryType.STATUS])
        replaced = sim.pick(decisions) if kind is EntryType.DECISION and decisions and self._draw(3) else None
        scope = sim.pick(["project", "src", "src/auth", "src/auth/jwt"])
        draft = EntryDraft(entry_type=kind, summary=SUMMARY, scope=scope, supersedes=replaced)
        self._context.ask("post", by, lambda idempotency_key: post_entry(sim.deps, by, draft, idempotency_key))

    def _end_entry(self, entry: Entry) -> None:
        sim, by = self._sim, self._sim.pick([human(), agent(self._sim.pick(ALL))])
        if self._draw(3) == 2:
            self._context.ask("delete", by, lambda _: delete_entry(sim.deps, by, entry.id), is_keyed=False)
        else:
            self._context.ask(
                "withdraw", by, lambda idempotency_key: withdraw_entry(sim.deps, by, entry.id, "no", idempotency_key)
            )

    def _end(self) -> None:
        sim, by = self._sim, self._context.person(f"h{self._draw(3)}")
        which = self._draw(3)
        states = ("claimed",) if which == 2 else ()
        task_id = self._context.some_parent() if which == 1 else self._context.some_task(*states)
        if self._draw(3) == 2:
            output = {"r": 1, **({"text": "large " * 200} if self._draw(2) else {})}
            self._context.ask(
                "resolve",
                by,
                lambda idempotency_key: resolve_task(
                    sim.deps, HumanCall(by, task_id, idempotency_key=idempotency_key), output
                ),
            )
        else:
            self._context.ask(
                "cancel", by, lambda idempotency_key: cancel_task(sim.deps, by, task_id, "stop", idempotency_key)
            )

    def _take_back(self) -> None:
        """From whoever holds it, or held it a moment ago."""
        sim, by = self._sim, self._context.person(f"h{self._draw(3)}")
        task_id = self._context.some_task("claimed")
        fence = max(1, self._context.ledger.heads[task_id].get("fence", 0) - self._draw(2))
        self._context.ask(
            "release claim",
            by,
            lambda idempotency_key: release_claim(
                sim.deps, HumanCall(by, task_id, idempotency_key=idempotency_key), fence, "it hangs"
            ),
        )

    def _retry(self) -> None:
        sim, task_id = self._sim, self._context.some_task("failed", "rejected", "cancelled")
        source = self._context.ledger.heads[task_id]["source_agent"]
        by = agent(source) if source in ALL and self._draw(2) else human()
        self._context.ask("retry", by, lambda idempotency_key: retry_handoff(sim.deps, by, task_id, idempotency_key))

    def _let_through(self) -> None:
        sim, by = self._sim, human()
        page = self._context.look(lambda: sim.deps.store.escalations.reviews(WORKSPACE, 20, None))
        if page and page.items:
            review = sim.pick(page.items)
            if self._draw(3) == 2:
                self._context.ask(
                    "close review",
                    by,
                    lambda idempotency_key: close_review(sim.deps, by, review.id, Closing("no"), idempotency_key),
                )
                return
            self._context.ask(
                "release review", by, lambda idempotency_key: release_review(sim.deps, by, review.id, idempotency_key)
            )

    def _call_back(self) -> None:
        sim, tokens = self._sim, self._context.callbacks
        if not tokens:
            return
        token, content = sim.pick(list(tokens)[-2 - self._draw(8) :]), {"n": self._draw(3)}

        def answer(_once: IdempotencyKey | None) -> None:
            request = sim.current.process.request
            assert request
            request.posted = tokens[token], content
            answer_callback(sim.deps, token, content)

        self._context.ask("callback", SERVICE, answer, is_keyed=False)

    # Now and then

    def _switch_off(self) -> None:
        """One that works, for a while."""
        sim = self._sim
        head = self._context.ledger.heads[self._context.some_task("claimed")]
        slug = head["claim"]["agent"]
        self._context.look(lambda: register_agent(sim.deps, human(), slug, {"active": False}))
        self._context.rest(20)
        self._context.look(lambda: register_agent(sim.deps, human(), slug, {"active": True}))

    def _change_agent(self) -> None:
        sim, values = self._sim, self._sim.pick(CHANGES)
        by, slug = sim.pick([human(), human(), SERVICE]), sim.pick(ALL)
        if self._draw(2):  # whom work was approved for
            slug = self._context.ledger.heads[self._context.some_task("delegated")].get("target_agent") or slug
        self._context.look(lambda: register_agent(sim.deps, by, slug, values))
