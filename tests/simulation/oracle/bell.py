"""The bell: a ring says nothing but where and when to look, reaches nobody who may not listen any more, and wakes no
more than it takes. Who listens is written down by who connects, and struck out by who knows why."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.ports.bell import Heard
from simulation.oracle.items import item_of, to_ms, whole
from simulation.ports import BEGIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.bell import Line
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.verdict import Verdict
    from simulation.scheduler import Process
    from simulation.simulation import Simulation

BEGIN_MS = int(BEGIN.timestamp() * 1000)
SAYS = {"ring", "id", "due_at"}
OPAQUE = re.compile(r"[0-9a-f]{16}")
SETTLES_MS, MAX_RUNG = 30_000, 20
# Rings at the end of a lease.
AT_AN_END = 2


@dataclass(eq=False)
class Ringing:
    """What a process does at the bell: ``ring``, or ``leave`` or ``look`` for one connection. ``most``: of each agent's
    listeners, how many it may ring; None for no bound. ``gone``: which connections were over, at which step it was
    told so, and how old they were."""

    what: str
    about: str = ""
    most: Counter[str] | None = None
    rung: Counter[str] = field(default_factory=Counter)
    gone: dict[str, tuple[int, int]] = field(default_factory=dict)


class BellRules:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must
        self._added_at: dict[str, int] = {}
        self._opened: dict[str, str] = {}

    # What a ringing process may do

    def of_records(self, records: Sequence[Mapping[str, Any]]) -> Ringing:
        """As many as there are tasks, and one more."""
        most: Counter[str] = Counter()
        heads: dict[str, Item] = {}
        for record in records:
            item = item_of(record["dynamodb"]["NewImage"])
            if item is not None and item["sk"] == "HEAD":
                heads[item["pk"]] = whole(item["pk"], item)
        for head in heads.values():
            if head["state"] == "delegated" and not head.get("parked"):
                most.update([head["target_agent"]] if "target_agent" in head else list(self._ledger.agents))
        most.update(list(most))
        for record in records:
            claim = (item_of(record["dynamodb"]["NewImage"]) or {}).get("claim") or {}
            most.update([claim["agent"]] * AT_AN_END if claim else [])
        return Ringing("ring", most=most)

    def of_look(self, number: int) -> Ringing:
        """Twice as many each time."""
        most = min(2 * 2 ** (number - 1 if number > 0 else -number), MAX_RUNG)
        return Ringing("ring", most=Counter(dict.fromkeys(self._ledger.agents, most)))

    def is_sent(self, line: Line, message: Mapping[str, Any]) -> None:
        process = self._sim.current.process
        is_ring = "ring" in message
        says = SAYS if is_ring else {"looked", "due_at"}
        self._must(message.keys() <= says, "a ring says {}", list(message))
        self._must(message.get("ring", message.get("looked")) == line.topic, "{} hears {}", line.topic, message)
        is_opaque = not is_ring or OPAQUE.fullmatch(message["id"])
        self._must(is_opaque and to_ms(message.get("due_at", "2026-01-01T00:00:00Z")), "a ring tells {}", message)
        refused = self._refused(line.topic, line.token_id, process, all)
        self._must(not refused, "{} of {} hears, and {}", line.id, line.topic, refused)

    def is_heard(self, line: Line, message: Mapping[str, Any], heard: Heard) -> None:
        ringing = self._sim.current.process.ringing
        if ringing is None or "ring" not in message:
            return
        self._ledger.seen[f"ring {heard}"] += 1
        kind, _, agent = line.topic.partition(":")
        if heard is Heard.GONE:
            item = self._listener(line.id)
            ringing.gone[line.id] = self._sim.steps, self._age_ms(item, self._sim.current.process)
        if heard is Heard.YES and kind == "work" and ringing.most is not None:
            ringing.rung[agent] += 1
            most = ringing.most[agent]
            self._must(ringing.rung[agent] <= most, "{} listeners of {} are rung for work, not {}", ringing.rung[agent],
                agent, most)  # fmt: skip

    def is_done(self, process: Process) -> None:
        """Without a fault: what was gone is struck out."""
        assert process.ringing
        for connection_id, (step, age_ms) in process.ringing.gone.items():
            is_new = self._added_at.get(connection_id, 0) >= step or age_ms <= SETTLES_MS
            self._must(
                "topic" not in self._listener(connection_id) or is_new,
                "{} is gone, and goes on being rung",
                connection_id,
            )

    # What is written

    def is_written(self, tx: Transaction, about: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk == "TICKET":
            before, after = (old or {}).get("used_by"), (new or {}).get("used_by")
            self._must(before is None or new is None or before == after, "{} and {} use one ticket", before, after)
            return
        if new is None:
            return
        places = {"queue_pk", "queue_sk", "wake_pk", "wake_sk"} & new.keys()
        self._must(len(places) == 4 * ("topic" in new), "{} is found by {}", about, places)
        if "topic" in new:
            self._added_at[about] = self._sim.steps
            line = self._sim.connections.lines[about]
            said, asked = (new["topic"], new["token_id"]), (line.topic, line.token_id)
            self._must(said == asked, "{} listens to {}, and asked for {}", about, said, asked)
        elif old is not None and "topic" in old:
            self._struck_out(about, old)

    def _struck_out(self, connection_id: str, old: Item) -> None:
        process = self._sim.current.process
        ringing = process.ringing
        self._must(ringing, "{} was struck out by nobody of the bell's", connection_id)
        if ringing is None or (ringing.what, ringing.about) == ("leave", connection_id):
            return
        if connection_id in ringing.gone:
            is_old = self._age_ms(old, process) > SETTLES_MS
            self._must(is_old, "{} is struck out while its handshake may not be answered", connection_id)
            self._ledger.seen["listener gone"] += 1
            return
        refused = self._refused(old["topic"], old["token_id"], process, any)
        self._must(refused, "{} was struck out, and may listen to {}", connection_id, old["topic"])
        is_closed = ringing.what == "look" or not self._sim.connections.lines[connection_id].is_open
        self._must(is_closed, "{} may not listen, and isn't closed", connection_id)
        self._ledger.seen["listener refused"] += 1

    # Who connects

    def is_connected(self, line: Line, process: Process) -> None:
        refused = self._refused(line.topic, line.token_id, process, all)
        self._must(not refused, "{} begins to listen to {}, and {}", line.id, line.topic, refused)

    def is_opened_with(self, ticket: str, line: Line, expires_ms: int, process: Process) -> None:
        is_over = process.began_ms + BEGIN_MS - self._sim.habits.skew_ms >= expires_ms
        self._must(not is_over, "a ticket that is over has opened {}", line.id)
        first = self._opened.setdefault(ticket, line.id)
        self._must(first == line.id, "one ticket has opened {} and {}", first, line.id)

    # Inside

    def _refused(self, topic: str, token_id: str, process: Process, which: Any) -> str:
        """Why nobody may listen so who began then; or, with ``any``, who might have seen it so."""
        token = item_of(self._sim.dynamo.item((f"TOKEN#{token_id}", "TOKEN")))
        if token is None:
            return "its token is none"
        revoked_at = self._sim.oracle.sessions.revoked_at.get(token_id)
        if revoked_at is not None and (which is any or revoked_at < process.began_at):
            return "its token is revoked"
        skew_ms = self._sim.habits.skew_ms * (-1 if which is all else 1)
        seen_ms = process.began_ms if which is all else self._sim.now_ms
        if "expires_at" in token and seen_ms + BEGIN_MS + skew_ms >= to_ms(token["expires_at"]):
            return "its token is over"
        kind, _, name = topic.partition(":")
        agents = {name} if kind == "work" else set()
        agents |= {token["subject"]} if token["kind"] == "agent" else set()
        for slug in sorted(agents):
            if which(not each["active"] for each in self._ledger.agents_since(slug, process.began_at)):
                return f"{slug} is switched off"
        return ""

    def _listener(self, connection_id: str) -> Item:
        return item_of(self._sim.dynamo.item((f"BELL#{connection_id}", "LISTENER"))) or {}

    def _age_ms(self, listener: Item, process: Process) -> int:
        """By the process' clock."""
        return self._sim.now_ms + process.skew_ms + BEGIN_MS - int(listener.get("since_ms", 0))
