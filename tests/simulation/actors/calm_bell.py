"""Quiet times with a bell: nobody polls, and everything is brought to its end by who listens. With all rings and looks
lost that takes one look longer, and ends alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import PrincipalKind
from baton.domain.bell.listener import topic_of
from baton.domain.bell.ring import FIRST_RUNG
from baton.domain.errors import NotAsked
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.times import rfc3339
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.register_agent import register_agent
from baton.services.bell.listen import begin_listening, stop_listening, what_is_due
from baton.services.claims.claim_task import claim_next
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.events.publish_events import publish_overdue
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.put_off_task import defer_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.retry_tracker import retry_tracker
from baton.steps.claims.take_task import Claimed, Claimer
from simulation.actors.bell import LOOK_MS
from simulation.actors.calm import SWEEP_MS, CalmDays
from simulation.actors.people import ACCEPTED, ALL, OPERATOR, RUN, agent, human
from simulation.habits import PULL, NoticeFate
from simulation.oracle.bell import BEGIN_MS, Ringing
from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED
from simulation.ports import WORKSPACE
from simulation.scheduler import Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from baton.domain.access.principal import Principal
    from baton.domain.access.token import Token
    from simulation.actors.actor_context import ActorContext
    from simulation.bell import Line
    from simulation.oracle.ledger import Item

DAY_MS = 86_400_000
MAX_ROUNDS, MAX_DAYS = 3_000, 60
# A connection is opened anew before the gateway ends it.
HOLDS_MS = 7_000_000
# How often a worker gives a claim back or dies with it. Then it works.
MISHAPS = 6
# Where a first ring goes to those who are dead, others are rung a little later.
MARGIN_MS, OTHERS_MS = 2_000, 3_000


@dataclass(eq=False)
class Post:
    """Who listens for an agent's work. ``looked_ms``: when it last looked by itself, if it did;
    ``wakes_ms``: when it was told to; ``past``: its last connection that is over."""

    slug: str
    token: Token
    line: Line
    since_ms: int
    looked_ms: int = -1
    wakes_ms: set[int] = field(default_factory=set)
    past: Line | None = None


class BellDays(CalmDays):
    def __init__(self, context: ActorContext) -> None:
        super().__init__(context)
        self._draw, self._heads, self._mishaps = context.draw, context.ledger.heads, MISHAPS
        self._is_lost = context.habits.rings is NoticeFate.LOST
        self._posts: list[Post] = []
        # What the lists have told of each task.
        self._told: dict[str, tuple[int, bool, str]] = {}
        self._changed_ms: dict[str, int] = {}
        # By agent: when it last held as many as it may.
        self._full_ms: dict[str, int] = {}
        self._watched: set[str] = set()
        self._watches: list[Line] = []
        self._saving: list[WorkerCall] = []

    def everybody_finishes(self) -> None:
        sim, heads = self._sim, self._heads
        if sim.habits.has_tracker:
            retry_tracker(sim.deps, human(), None)
        for slug in ALL:
            accepts = {"accepts": ACCEPTED[slug]} if sim.habits.has_trust and slug in ACCEPTED else {}
            register_agent(sim.deps, OPERATOR, slug, {"active": True, **accepts})
        change_settings(sim.deps, human(), {"listeners_per_principal": 100})
        self._gather()
        sim.bell_stream = []
        self._begin()
        until_ms, day_ms = sim.now_ms + MAX_DAYS * DAY_MS, sim.now_ms + DAY_MS
        for _ in range(MAX_ROUNDS):
            if sim.now_ms >= day_ms:
                self._others()
                day_ms += DAY_MS
            self._save()
            self._humans()
            self._baton()
            self._everybody_was_told()
            self._work()
            self._is_nothing_forgotten()
            is_over = sim.now_ms > until_ms or all(head["state"] in ENDED for head in heads.values())
            if sim.scheduler.is_stopped or is_over:
                self._silence()
                self.pass_by(1)
                return
            sim.pass_to(max(sim.now_ms + 1, self._next(day_ms)))
        sim.oracle.verdict.fail("who listens never comes to rest")

    def _begin(self) -> None:
        for line in self._sim.connections.lines.values():
            line.is_open = False  # no connection lasts for days
        bob, now_ms = self._token(PrincipalKind.HUMAN, "bob"), self._sim.now_ms
        self._began_ms = now_ms
        for slug in PULL:
            token = self._token(PrincipalKind.AGENT, slug)
            self._watches.append(self._listens(token, f"inbox:{slug}"))
            for number in range(1 + self._draw(3)):
                self._posts.append(Post(slug, token, self._listens(token, f"work:{slug}"), now_ms))
                self._posts[-1].line.is_dead = number > 0 and self._draw(2) == 1
        self._watches += [self._listens(bob, "lists") for _ in range(2)]
        self._watched = set([each for each, head in self._heads.items() if head["state"] not in ENDED][:5])
        for task_id in sorted(self._watched):
            self._watches.append(self._listens(bob, f"task:{task_id}"))
        self._told = {each: _told(head) for each, head in self._heads.items()}
        for slug in PULL:
            self._hand_off(slug)

    def _hand_off(self, slug: str) -> None:
        """Mostly for later."""
        sim, by, later = self._sim, human("bob"), self._draw(3)
        at = sim.clock.now() + timedelta(seconds=1 + self._draw((1, 400, 7_200)[later]))
        not_before = {"metadata": {"not_before": rfc3339(at)}} if later else {}
        message = {
            "source": {"agent": by.id},
            "target": {"agent": slug, "reason": "calm"},
            "summary": "s",
            **not_before,
        }
        create_handoff(sim.deps, by, CreateHandoff(message=message_from(message)))

    def _token(self, kind: PrincipalKind, subject: str) -> Token:
        return issue_token(self._sim.deps, OPERATOR, TokenRequest(kind=kind, subject=subject))[0]

    def _listens(self, token: Token, topic: str) -> Line:
        line = self._sim.connections.line(topic, token.id)
        begin_listening(self._sim.deps, token.principal, topic_of(WORKSPACE, topic), line.id)
        line.is_open = True
        return line

    # What happens meanwhile

    def _save(self) -> None:
        """A checkpoint a moment after the claim: the stream brings both at once."""
        for call in self._saving:
            save_checkpoint(self._sim.deps, call, "step", {"n": 1})
        self._saving = []

    def _others(self) -> None:
        """Humans take what nobody has taken, and what agents that Baton runs haven't done is done."""
        for task_id in [task_id for task_id, head in self._heads.items() if head["state"] == "next"]:
            self._take(task_id)
        for slug in RUN:
            self._work_off(slug)

    def _humans(self) -> None:
        """Approve what there is; now and then it has time."""
        sim = self._sim
        self._answer()
        for task in list(sim.deps.store.queues.needs(WORKSPACE, 200, None).items):
            if self._mishaps and self._draw(8) == 7 and self._defer(task.id):
                self._mishaps -= 1
            else:
                self._approve(task.id)
        self._let_all_through()

    def _defer(self, task_id: str) -> bool:
        """False for guarded work that only others may defer."""
        until = self._sim.clock.now() + timedelta(seconds=600 + self._draw(7_200))
        try:
            defer_task(self._sim.deps, HumanCall(human(), task_id), until)
        except NotAsked:
            return False
        return True

    def _baton(self) -> None:
        """Notices, sweeps, rings; until nothing is left for now."""
        sim = self._sim
        for notice in sim.queue.due(sim.now_ms):
            sim.lambdas.answer(notice)
        for task_id in sim.tracker_queue.due(sim.now_ms):
            sim.lambdas.sync(task_id)
        if min([*self._due(), *self._pages_due()], default=1 << 60) + SWEEP_MS <= sim.now_ms:
            this = sweep(sim.deps)
            sim.oracle.verdict.must(this.failed == 0 and this.complete, "a sweep in quiet times failed")
            publish_overdue(sim.deps, sim.bus)
        while True:
            batch, sim.bell_stream = sim.bell_stream, []
            if batch:
                sim.lambdas.ring(batch)
            looks = sim.looks.due(sim.now_ms)
            for look in [] if self._is_lost else looks:
                sim.lambdas.look(*look)
            if not looks and not sim.bell_stream:
                return

    def _next(self, day_ms: int) -> int:
        sim = self._sim
        waiting = [at for queue in (sim.queue, sim.tracker_queue, sim.looks) for at, _ in queue.waiting]
        waiting += [sim.now_ms] if sim.bell_stream else []
        swept = [each + SWEEP_MS for each in [*self._due(), *self._pages_due()]]
        for post in [each for each in self._posts if not each.line.is_dead]:
            waiting += [self._looks_ms(post, sim.now_ms), *post.wakes_ms]
            judged = [at + MARGIN_MS + OTHERS_MS + 1 for _, at, _ in self._takeable(post.slug)]
            waiting += [at for at in judged if at > sim.now_ms]
        return min([day_ms, *waiting, *swept])

    def _looks_ms(self, post: Post, now_ms: int) -> int:
        """When it looks next, each ``LOOK_MS``; but looks that find nothing are left out."""
        due_ms = min([at for _, at, _ in self._takeable(post.slug)], default=1 << 60)
        since_ms = post.looked_ms
        next_one, last_before_it = -((since_ms - now_ms) // LOOK_MS), (due_ms - since_ms) // LOOK_MS
        return since_ms + LOOK_MS * max(next_one, last_before_it, 1)

    # Who listens

    def _work(self) -> None:
        now_ms = self._sim.now_ms
        for line in self._watches:
            line.heard.clear()
        for post in [each for each in self._posts if not each.line.is_dead]:
            if not post.line.is_open or now_ms - post.since_ms > HOLDS_MS:
                self._connect_anew(post)
            for message in post.line.heard:
                post.wakes_ms.add(_due_ms(message, now_ms))
            post.line.heard.clear()
            if post.looked_ms < 0 or self._looks_ms(post, now_ms) <= now_ms:
                self._look(post)
                post.looked_ms = now_ms
            if any(at <= now_ms for at in post.wakes_ms):
                post.wakes_ms = {at for at in post.wakes_ms if at > now_ms}
                self._claim(post)

    def _connect_anew(self, post: Post) -> None:
        """Before the gateway ends it, which tells Baton nothing of that. The one before has expired in the table."""
        self._sim.connections.end(post.line)
        if post.past is not None:
            self._sim.current.process.ringing = Ringing("leave", post.past.id)
            stop_listening(self._sim.deps, post.past.id)
            self._sim.current.process = Process()
        post.past = post.line
        post.line, post.since_ms = self._listens(post.token, post.line.topic), self._sim.now_ms
        post.looked_ms = -1

    def _look(self, post: Post) -> None:
        sim = self._sim
        sim.current.process = Process()
        sim.current.process.ringing = Ringing("look", post.line.id)
        missed = what_is_due(sim.deps, post.line.id)
        sim.current.process = Process()
        due_ms = None if missed.due_at is None else to_ms(missed.due_at.isoformat()) - BEGIN_MS
        takeable = self._takeable(post.slug)
        is_ready = any(at <= sim.now_ms for _, at, _ in takeable)
        must = sim.oracle.verdict.must
        must(
            not is_ready or (due_ms or 1 << 60) <= sim.now_ms,
            "{} isn't told to look, and {} are due",
            post.slug,
            takeable,
        )
        # Of what is due later a few are told: all, where no more listen.
        later_ms = min([at for _, at, is_own in takeable if is_own], default=None)
        is_told = self._is_crowded(post) if due_ms is None else due_ms <= (later_ms or due_ms)
        must(
            is_ready or later_ms is None or is_told,
            "{} is told to look at {}, and it is {}",
            post.slug,
            due_ms,
            later_ms,
        )
        if due_ms is not None:
            post.wakes_ms.add(max(due_ms, sim.now_ms))

    def _is_crowded(self, post: Post) -> bool:
        topic = topic_of(WORKSPACE, post.line.topic)
        return len(self._sim.deps.store.bell.listening(topic, FIRST_RUNG + 1)) > FIRST_RUNG

    def _claim(self, post: Post) -> None:
        sim, by = self._sim, agent(post.slug)
        claimer = Claimer(by=by, agent=post.slug, worker=post.line.id, lease_seconds=sim.pick([15, 300]))
        while claimed := claim_next(sim.deps, claimer):
            sim.oracle.answers.claimed(claimed)
            sim.oracle.ledger.seen["claimed by the bell"] += 1
            self._do(by, claimed)

    def _do(self, by: Principal, claimed: Claimed) -> None:
        """Mostly it is done; now and then it is given back, or its worker dies."""
        sim, how = self._sim, self._draw(6) if self._mishaps else 5
        call = WorkerCall(by, claimed.details.task.id, claimed.claim_id, "calm")
        if how == 5:
            self._complete(by, claimed)
            return
        self._mishaps -= 1
        if how == 0:
            release_task(sim.deps, call, ReleasedWork(reason="no"))
        elif how == 1:
            again_at = sim.clock.now() + timedelta(seconds=600 + self._draw(7_200))
            release_task(sim.deps, call, ReleasedWork(reason="later", again_at=again_at))
        elif how == 2:
            failed = FailedWork(failure={"type": "error", "description": "broke"}, retryable=True)
            fail_task(sim.deps, call, failed)
        elif how == 3:
            self._saving.append(call)
        elif self._draw(2):
            renew_claim(sim.deps, by, call.task_id, call.claim_id, 30 + self._draw(600))

    def _silence(self) -> None:
        """Whose token is revoked, or whose agent is switched off, is closed."""
        sim, first, last = self._sim, self._posts[0], self._posts[-1]
        revoke_token(sim.deps, human(), first.token.id)
        register_agent(sim.deps, human(), last.slug, {"active": False})
        self._baton()
        tokens = {first.token.id, last.token.id}
        left = [line.topic for line in sim.connections.lines.values() if line.token_id in tokens and line.is_open]
        sim.oracle.verdict.must(not left, "{} go on listening, and may not", left)

    # What must hold

    def _is_nothing_forgotten(self) -> None:
        """For longer than one look, whatever was lost; and where nothing is, for hardly any time."""
        must, now_ms = self._sim.oracle.verdict.must, self._sim.now_ms
        for slug in PULL:
            has_dead = any(each.line.is_dead for each in self._posts if each.slug == slug)
            most_ms = MARGIN_MS + (LOOK_MS if self._is_lost or slug in self._full_ms else OTHERS_MS * has_dead)
            if self._is_full(slug):
                self._full_ms[slug] = now_ms
                continue
            for task_id, at, _ in self._takeable(slug):
                since_ms = now_ms - max(at, self._changed_ms.get(task_id, self._began_ms), self._full_ms.get(slug, 0))
                must(
                    since_ms <= most_ms,
                    "{} is ready for {} since {} ms, and who listens has forgotten it",
                    task_id,
                    slug,
                    since_ms,
                )

    def _everybody_was_told(self) -> None:
        """Of each change at once: whoever watches the task, the lists, and who handed it off of its end."""
        now_ms = self._sim.now_ms
        for task_id, head in self._heads.items():
            before, self._told[task_id] = self._told.get(task_id), _told(head)
            if before == self._told[task_id]:
                continue
            self._changed_ms[task_id] = now_ms
            is_shown_alike = before is not None and before[0] == head["seq"] and head["state"] == "delegated"
            if self._is_lost or is_shown_alike:
                continue
            topics = ["lists", *([f"task:{task_id}"] if task_id in self._watched else [])]
            is_new_end = head["state"] in ENDED and before is not None and before[2] not in ENDED
            topics += [f"inbox:{head['source_agent']}"] if is_new_end and head["source_agent"] in PULL else []
            silent = {line.topic for line in self._watches if line.topic in topics and not line.heard}
            self._sim.oracle.verdict.must(not silent, "{} has changed, and {} aren't rung", task_id, silent)

    def _takeable(self, slug: str) -> list[tuple[str, int, bool]]:
        """Tasks that the agent could claim, from when on, and whether they are its own."""
        found = []
        for task_id, head in self._heads.items():
            target = head.get("target_agent")
            is_let = target == slug or (target is None and head["source_agent"] != slug)
            is_held = self._sim.oracle.approvals.may_be_held({**head, "target_agent": slug})
            if head["state"] == "delegated" and is_let and not head.get("parked") and not is_held:
                found.append((task_id, to_ms(head["ready_at"]) - BEGIN_MS, target == slug))
        return found + [(head["id"], head["claim"]["expires_ms"] - BEGIN_MS, True) for head in self._held(slug)]

    def _held(self, slug: str) -> list[Item]:
        return [head for head in self._heads.values() if (head.get("claim") or {}).get("agent") == slug]

    def _is_full(self, slug: str) -> bool:
        limit = self._context.ledger.standing("agent", slug).get("max_concurrent")
        return limit is not None and len(self._held(slug)) >= limit


def _told(head: Item) -> tuple[int, bool, str]:
    return head["seq"], bool(head.get("parked")), head["state"]


def _due_ms(message: Mapping[str, Any], now_ms: int) -> int:
    return max(now_ms, to_ms(message["due_at"]) - BEGIN_MS) if "due_at" in message else now_ms
