"""Each kind of item: what of it may be written, and what is learnt from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from baton.adapters.dynamodb.table import from_wire
from simulation.oracle.ledger import ENDED
from simulation.oracle.pieces import Pieces
from simulation.ports import BEGIN, WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.oracle.bell import BellRules
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.sessions import Sessions
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

    Rule = Callable[[Transaction, str, str, Item | None, Item | None], None]

BEGIN_MS = int(BEGIN.timestamp() * 1000)
MAX_POLLS = 5
PREFIX = f"WS#{WORKSPACE}#"
COUNTED = ("model_calls", "input_tokens", "output_tokens")
OF_A_VERSION = {"pk", "sk", "version", "updated_at", "updated_by", "written_by", "created_at"}
PAPERS = ("FAILURE", "BROUGHT", "CHECKPOINT")


class Writes:
    """``note`` takes one item of a transaction: its partition, its sort key, and what it was and is."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger, sessions: Sessions, bell: BellRules) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger
        self._must = verdict.must
        self.pieces = Pieces(sim, verdict, ledger)
        self._rules: dict[str, Rule] = {
            "TASK": self._task,
            "TRAIL": self._trail,
            "HELD": self._held,
            "DIRECTION": self._direction,
            "NOTES": self._note,
            "WORKFLOW": self._workflow,
            "HANDOFFS": self._handoffs,
            "USAGE": self._usage,
            "RUN": self._run,
            "REVIEWS": self._review,
            "AGENT-VERSIONS": self._version_of("agent"),
            "TOOL-VERSIONS": self._version_of("tool"),
            "ROUTE-VERSIONS": self._version_of("route"),
            "ALERTS": self._alert,
            "ALERTS-OF-TASK": self._alert_of_task,
            "BOARD": self._board,
            "SETTINGS": self._settings,
            "ROUTES": self._route,
            "PAGE": self._page,
            "POLLS": self._polls,
            "WATCH": self._watch,
            "CHANGES": self._change,
            "PEOPLE": self._people,
            "TOKEN": sessions.is_written,
            "BELL": bell.is_written,
            "STANDING": self._standing,
        }

    def note(self, tx: Transaction, pk: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._is_own(pk)
        kind, _, rest = pk.removeprefix(PREFIX).partition("#")
        tx.kinds[kind] += 1
        if rule := self._rules.get(kind):
            rule(tx, rest, sk, old, new)

    def _is_own(self, pk: str) -> None:
        """No request writes into another workspace than its caller's."""
        request = self._sim.current.process.request
        if request is not None and pk.startswith("WS#"):
            workspace = pk.split("#", 2)[1]
            own = request.by.workspace
            self._must(workspace == own, "{}: of {}, and it wrote {}", request.name, own, pk)

    def _task(self, tx: Transaction, task_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        if new is None:
            self._verdict.fail(f"{task_id}: {sk} was deleted")
        elif sk == "HEAD":
            tx.heads[task_id] = (old, new)
            self._output(task_id, new)
            self._inbox(tx, task_id, old, new)
            if old is None:
                self.pieces.started(tx, task_id)
            if "fresh" in new:
                self._streamed(task_id, sk)
        elif sk == "BEGINNING":
            self.pieces.begun(task_id, old, new)
        elif sk == "BODY":
            self._must(old is None, "{}: {} was rewritten", task_id, sk)
            self._ledger.bodies[task_id] = json.loads(new["content"])
        elif sk == "FOLLOWED":
            is_nobodys = self._sim.oracle.talks.is_nobodys
            self._must(old is None or is_nobodys(old["next_id"]), "{}: {} was rewritten", task_id, sk)
            tx.followed[task_id] = new["next_id"]
        elif sk in ("JOIN", "CASCADE"):
            tx.errands.add((sk, task_id))
            self._ledger.errands[sk, task_id] = "stamp" in new
            if "stamp" not in new:
                self._errand_done(sk, task_id)
        elif sk.startswith("OUTPUT#"):
            self._must(old in (None, new), "{}: {} was rewritten", task_id, sk)
        elif sk.startswith("QUESTION#"):
            self._sim.oracle.questions.is_written(tx, sk.removeprefix("QUESTION#"), old, new)
        elif sk == "RUN_STATE":
            tx.run_states[task_id] = new
        elif sk in PAPERS or sk.startswith("RECOVERY"):
            self._paper(tx, task_id, sk, new)

    def _output(self, task_id: str, head: Item) -> None:
        """In HEAD, or in an item that was there before."""
        sk = head.get("output_in")
        wire = self._sim.dynamo.item((f"{PREFIX}TASK#{task_id}", sk)) if sk else None
        item = head if not sk else wire and from_wire(wire)
        self._must(item, "{}: its HEAD names {}, which isn't there", task_id, sk)
        is_late = head["state"] not in ENDED and "output" in (item or {})
        self._must(not is_late, "{}: has an output, and hasn't ended", task_id)
        if item and "output" in item:
            self._ledger.outputs[task_id] = json.loads(item["output"])
        if item and "completion" in item:
            self._ledger.completions[task_id] = json.loads(item["completion"])

    def _errand_done(self, sk: str, task_id: str) -> None:
        head = self._ledger.heads[task_id]
        if sk == "CASCADE":
            left = self._left_under(task_id)
            self._must(not left, "{}: its cascade has left {}", task_id, left)
        elif head["state"] == "waiting" and head["wait"]["branches"]:
            self._must(not self._ledger.is_met(head["wait"]), "{}: nobody is left to join it", task_id)

    def _left_under(self, task_id: str) -> list[str]:
        heads, above = self._ledger.heads, self._ledger.goes_on_under
        return [each for each, head in heads.items() if head["state"] not in ENDED and above(each) == task_id]

    def _paper(self, tx: Transaction, task_id: str, sk: str, new: Item) -> None:
        """In the transaction that ends the task at the latest."""
        state = self._ledger.heads.get(task_id, {}).get("state")
        self._must(state not in ENDED, "{}: {} was written after its end", task_id, sk)
        if sk.startswith("RECOVERY"):
            self._ledger.recoveries[task_id] = new["number"]
            self._recovery(task_id, new)
        if sk == "FAILURE":
            self._ledger.failures[task_id] = json.loads(new["content"])
        if sk == "BROUGHT":
            tx.resume_payload = json.loads(new["content"])
            self._ledger.resume_payload[task_id, tx.resume_payload["wait"]] = tx.resume_payload

    def _recovery(self, task_id: str, new: Item) -> None:
        """It says whose work was lost, and where to go on."""
        head = self._ledger.heads[task_id]
        claim = head.get("claim") or {}
        wanted = (claim.get("agent"), claim.get("worker"), claim.get("fence"), head.get("last_checkpoint_id"))
        said = tuple(new.get(f"prior_{name}") for name in ("agent", "worker", "fence"))
        said = (*said, new.get("last_checkpoint_id"))
        self._must(said == wanted, "{}: its recovery tells of {}, {} was lost", task_id, said, wanted)

    def _trail(self, tx: Transaction, task_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk.startswith("EVENTS#"):
            self.pieces.copied(task_id, sk, new)
        else:
            self._must(old is None, "{}: {} was rewritten", task_id, sk)

    def _watch(self, tx: Transaction, of: str, sk: str, old: Item | None, new: Item | None) -> None:
        """It was asked for: the stream brings that back."""
        if new is not None and "fresh" in new:
            self._streamed_item((f"{PREFIX}WATCH#{of}", sk))

    def _streamed(self, task_id: str, sk: str) -> None:
        self._streamed_item((f"{PREFIX}TASK#{task_id}", sk))

    def _streamed_item(self, key: tuple[str, str]) -> None:
        stored = self._sim.dynamo.item(key)
        if stored and not self._sim.fault_source.is_calm:
            self._sim.stream.append(stored)

    def _held(self, tx: Transaction, agent: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._must(new, "slot {} of {} was deleted", sk, agent)
        before, now = (each if each and "free" not in each else None for each in (old, new))
        tx.held |= {each["task_id"] for each in (before, now) if each}
        if before:
            self._ledger.held[before["claim_id"]].discard((agent, sk, before["task_id"]))
        if now:
            self._ledger.held[now["claim_id"]].add((agent, sk, now["task_id"]))

    def _direction(self, tx: Transaction, pair: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._ledger.directions[pair] = new
        known, by_page = ((new or {}).get(each, set()) for each in ("ended", "closed"))
        goes_on = [each for each in known - by_page if self._ledger.heads[each]["state"] not in ENDED]
        self._must(not goes_on, "direction {}: counts {} as ended, and they aren't", pair, goes_on)

    def _inbox(self, tx: Transaction, task_id: str, old: Item | None, new: Item) -> None:
        """An ended task's place in the queue index."""
        before, now = _inbox_place(old or {}), _inbox_place(new)
        if before == now:
            return
        if before:
            self._must(before in self._ledger.acknowledged, "inbox of {}: {} went away unacknowledged", *before)
            self._listed("INBOX", *before, None)
        if now:
            tx.inbox.append((now[0], {"state": new["state"], "task_id": task_id}))
            is_new = now[1] not in self._ledger.ever_listed["INBOX", now[0]]
            self._must(is_new, "inbox of {}: {} was there before", *now)
            self._listed("INBOX", *now, new)

    def _note(self, tx: Transaction, about: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._must(old is None and new, "a note on {} was rewritten", about)
        self._listed("NOTES", about, sk, new)

    def _listed(self, kind: str, place: str, sk: str, new: Item | None) -> None:
        self._ledger.ever_listed[kind, place].add(sk)
        if new:
            self._ledger.listed[kind, place][sk] = self._sim.steps
        else:
            self._ledger.listed[kind, place].pop(sk, None)
            self._ledger.unlisted[kind, place][sk] = self._sim.steps

    def _workflow(self, tx: Transaction, workflow: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk not in self._ledger.members[workflow]:
            self._ledger.members[workflow].append(sk)
        tx.workflows.add(workflow)

    def _handoffs(self, tx: Transaction, workflow: str, sk: str, old: Item | None, new: Item | None) -> None:
        if new:
            self._ledger.counts[workflow] = new["count"]
        tx.workflows.add(workflow)

    def _usage(self, tx: Transaction, workflow: str, sk: str, old: Item | None, new: Item | None) -> None:
        """Calls are counted before they are made; what was counted under an earlier budget stays."""
        if new is None:
            return
        self._sim.oracle.spending.is_counted(workflow, old, new)
        self._ledger.usage[workflow] = new
        before = old["model_calls"] if old else 0
        for task_id in self._ledger.members[workflow]:
            limit = (self._ledger.bodies.get(task_id, {}).get("budget") or {}).get("max_model_calls")
            calls = new["model_calls"]
            is_within = limit is None or calls <= max(limit, before)
            self._must(is_within, "{}: {} model calls of {}", workflow, calls, limit)

    def _run(self, tx: Transaction, task_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk != "USAGE":
            self._sim.oracle.talks.is_said(task_id, old, new)
        elif new and any(new.get(n) != (old or {}).get(n) for n in COUNTED):
            write = (task_id, new["written_by"])
            self._must(write not in self._ledger.spent, "{}: one write was spent twice", task_id)
            self._ledger.spent.add(write)

    def _review(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        tx.is_release = tx.is_release or (new is not None and "released_at" in new)
        if new is not None and "closed_at" in new:
            is_alone = "released_at" not in new and "task_id" not in new
            self._must(is_alone, "{} was closed, and something came of it", sk)
            is_overtaken = new["closed_by"] == "service:sweeper" and new["closed_reason"].startswith("Overtaken: ")
            is_right = is_overtaken or new["closed_by"].startswith("human:")
            self._must(is_right, "{} was closed by {}", sk, new["closed_by"])
            self._ledger.seen["review closed"] += 1

    def _settings(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk == "SETTINGS":
            self._sim.oracle.deeds.changes_settings()
            tx.changed.settings = (old, new or {})
            self._sim.oracle.registry.is_next("the settings", old, new)
            self._sim.oracle.registry.are_changed_as_asked(old, new)
            self._sim.oracle.voters.are_changed(new or {})
        else:
            self._sim.oracle.registry.is_version("the settings", sk, old, new)

    def _change(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._sim.oracle.changes.is_written(tx, sk, old, new)

    def _people(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        tx.people = new

    def _standing(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._sim.oracle.standing.is_written(tx, sk.partition("#")[2], old, new)

    def _route(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        if sk.startswith("ROUTE#"):
            self._sim.oracle.registry.is_routed(sk.removeprefix("ROUTE#"), old, new)

    def _version_of(self, kind: str) -> Rule:
        """Agents, tools and routes keep their versions in the same way."""

        def rule(tx: Transaction, name: str, sk: str, old: Item | None, new: Item | None) -> None:
            self._sim.oracle.registry.is_version(name, sk, old, new)
            if new is None:
                return
            before = self._ledger.versions.get((kind, name, new["version"] - 1))
            self._sim.oracle.deeds.changes_registry(kind, name, before, new)
            if _content(before) != _content(new):
                tx.changed.registry.append((kind, name, before, new))
            self._ledger.versions[kind, name, new["version"]] = new
            if kind == "agent":
                self._ledger.versions[kind, name, 0] = new  # a standing approval names no version of an agent
                self._ledger.agents[name].append((self._sim.steps, new))
                if not self._sim.oracle.deeds.vouches(new["updated_by"]):
                    self._ledger.unvouched.add((name, new["version"]))

        return rule

    def _alert(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._sim.oracle.alerts.is_written(sk, old, new)

    def _alert_of_task(self, tx: Transaction, task_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        tx.alerts[task_id] += old is None

    def _board(self, tx: Transaction, _: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._sim.oracle.board.is_written(sk, old, new)

    def _page(self, tx: Transaction, page_id: str, sk: str, old: Item | None, new: Item | None) -> None:
        self._sim.oracle.pages.is_held(page_id, old, new)

    def _polls(self, tx: Transaction, by: str, sk: str, old: Item | None, new: Item | None) -> None:
        """At most so many at once, and nobody takes a permit that another still has."""
        before, after, skew_ms = old or {}, new or {}, self._sim.current.process.skew_ms
        now_ms = BEGIN_MS + self._sim.now_ms + skew_ms
        for name in [each for each in after if each.startswith("holder_")]:
            slot = name.removeprefix("holder_")
            is_taken = before.get(name) not in (None, after[name])
            is_over = not is_taken or before[f"until_{slot}"] <= now_ms
            self._must(int(slot) < MAX_POLLS and is_over, "{} waits with permit {}, which is another's", by, slot)


def _content(version: Item | None) -> Item | None:
    """Returns the fields of an agent, a tool or a route that its makers chose."""
    return version and {name: value for name, value in version.items() if name not in OF_A_VERSION}


def _inbox_place(head: Item) -> tuple[str, str] | None:
    """The agent and the item's id; None if the task is in no inbox."""
    kind, _, agent = str(head.get("queue_pk", "")).removeprefix(PREFIX).partition("#")
    return (agent, head["queue_sk"]) if kind == "INBOX" else None
