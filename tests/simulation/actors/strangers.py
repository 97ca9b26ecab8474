"""Those of another workspace, whose agents have the same names: they work there, and try ids of this one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import ACT_AS, CONVERSE, Principal, PrincipalKind
from baton.domain.agents.agent import Approval
from baton.domain.alerts.alert import Alert, Severity
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.memory.entry_index import Question
from baton.domain.tasks.calls import HumanCall
from baton.services.agents.register_agent import register_agent
from baton.services.alerts.list_alerts import AlertFilter, list_alerts
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.memory.post_entry import post_entry
from baton.services.memory.recall import recall
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_agent, tasks_that_need_a_human
from baton.services.tasks.read_task import read_task
from baton.steps.claims.take_task import Claimer
from simulation.actors.actor_context import NothingThere
from simulation.habits import PULL
from simulation.ports import SUMMARY, WORKSPACE
from simulation.requests import Answered, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.actors.actor_context import ActorContext

ELSEWHERE = "elsewhere"
HUMAN = Principal(ELSEWHERE, PrincipalKind.HUMAN, "alice", frozenset({ACT_AS}))
# Which refusals tell nothing of what there is.
UNTELLING = {"Unknown", "Busy", "InactiveAgent"}
MANY = 50


def agent(slug: str) -> Principal:
    return Principal(ELSEWHERE, PrincipalKind.AGENT, slug, frozenset({CONVERSE}))


class Stranger:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        for slug in PULL:
            register_agent(self._sim.deps, HUMAN, slug, {"name": slug.upper(), "approval": Approval.AUTO})

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(20)
            self._sim.pick([self._work, self._try_an_id, self._try_an_id, self._try_a_key, self._list])()

    def _work(self) -> None:
        """As anybody would, so that there is something on either side."""
        sim, slug = self._sim, self._sim.pick(PULL)
        message = {"source": {"agent": "alice"}, "target": {"agent": slug, "reason": "r"}, "summary": "s"}
        draft = EntryDraft(entry_type=EntryType.WARNING, summary=SUMMARY, scope="project")
        alert = AlertRequest(kind="stuck", severity=Severity.WARNING, message="look", task_id=None)
        acts: list[Callable[[], Any]] = [
            lambda: create_handoff(sim.deps, HUMAN, CreateHandoff(message=message_from(message))),
            lambda: claim_next(sim.deps, Claimer(by=agent(slug), agent=slug, worker="w")),
            lambda: post_entry(sim.deps, HUMAN, draft),
            lambda: raise_alert(sim.deps, HUMAN, alert),
        ]
        act = sim.pick(acts)
        self._context.ask("elsewhere", HUMAN, lambda _once: act(), is_keyed=False, most_effects=2)

    def _try_an_id(self) -> None:
        sim = self._sim
        try:
            task_id = self._context.some_task()
        except NothingThere:
            return
        claim_id = str((self._context.ledger.heads[task_id].get("claim") or {}).get("claim_id"))
        slug = sim.pick(PULL)
        acts: list[Callable[[], Any]] = [
            lambda: read_task(sim.deps, HUMAN, task_id),
            lambda: approve_task(sim.deps, HUMAN, task_id, None),
            lambda: cancel_task(sim.deps, HUMAN, task_id, "no"),
            lambda: resolve_task(sim.deps, HumanCall(HUMAN, task_id), {}),
            lambda: claim_task(sim.deps, Claimer(by=agent(slug), agent=slug, worker="w"), task_id),
            lambda: renew_claim(sim.deps, agent(slug), task_id, claim_id),
        ]
        act = sim.pick(acts)
        outcome = self._context.ask("elsewhere", HUMAN, lambda _once: act(), is_keyed=False, tries=1)
        must = sim.oracle.verdict.must
        must(not isinstance(outcome, Answered), "{} was answered to another workspace", task_id)
        is_untold = not isinstance(outcome, Refused) or type(outcome.error).__name__ in UNTELLING
        must(is_untold, "another workspace is told of {}: {}", task_id, outcome)

    def _try_a_key(self) -> None:
        """The same one in both workspaces."""
        sim = self._sim
        alert = AlertRequest(kind="stuck", severity=Severity.WARNING, message="look", task_id=None)
        key, made = IdempotencyKey(HUMAN, "/alert", f"key-{self._draw(300)}", "h", sim.clock.now()), []
        here = replace(HUMAN, workspace=WORKSPACE)
        for by in (HUMAN, here):
            own = replace(key, principal=by)
            outcome = self._context.ask("alert", by, partial(self._raise, by, alert, own), is_keyed=False)
            made += [outcome.value.id] if isinstance(outcome, Answered) else []
        sim.oracle.verdict.must(len(made) == len(set(made)), "two workspaces share what came of a key: {}", made)

    def _raise(self, by: Principal, alert: AlertRequest, key: IdempotencyKey, _once: object) -> Alert:
        return raise_alert(self._sim.deps, by, alert, key)

    def _list(self) -> None:
        sim, ledger = self._sim, self._context.ledger
        found: dict[str, Callable[[], Any]] = {
            "tasks": lambda: [
                *tasks_that_need_a_human(sim.deps, HUMAN, MANY, None).items,
                *tasks_of_agent(sim.deps, HUMAN, TaskFilter(agent=sim.pick(PULL)), MANY, None).items,
                *[each.root for each in list_conversations(sim.deps, HUMAN, ConversationFilter(), MANY, None).items],
            ],
            "alerts": lambda: list_alerts(sim.deps, HUMAN, AlertFilter(), MANY, None).items,
            "entries": lambda: [each.entry for each in recall(sim.deps, HUMAN, Question(text=SUMMARY)).items],
        }
        own = {"tasks": ledger.heads.keys(), "alerts": sim.oracle.alerts.ids(), "entries": sim.oracle.board.ids()}
        what = sim.pick(list(found))
        shown = self._context.ask("elsewhere", HUMAN, lambda _once: found[what](), is_keyed=False, tries=1)
        ours = {each.id for each in shown.value} & set(own[what]) if isinstance(shown, Answered) else ()
        sim.oracle.verdict.must(not ours, "another workspace is shown the {} {}", what, ours)
