"""The approvals queue: what waits, one after the other, and a key for each decision.

What is approved is what was on the screen: a decision carries the revision and the digest of what was shown, and the
API refuses it if the task has become another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from baton_cli import typed_values
from baton_cli.approval_decisions import (
    ShownApproval,
    approve_all,
    changed_agents,
    digest_of,
    looked_at,
    output_of,
    seen,
    shown_approval,
    takes_as_it_is,
    tell_lookalikes,
)
from baton_cli.key_queue import LOOKS, KeyQueue, says_yes
from baton_cli.request_warnings.sources import Handoffs
from baton_cli.similar_tasks import Item, apart, like
from baton_cli.state_words import said
from baton_client.core import Request
from baton_client.errors import Misused, Refused

SHORT_HELP = "a approve · A all like it · d defer · x dismiss · v the rest · q quit · ? more"
HELP = """a      approve: its agent may claim it once the undo window is over
A      approve all that have this very content, after a question
n      approve for a worker that is at work already, and claims it by its id
t      take a result that came too late: the task ends as done with it
d      defer, until a time
x      dismiss, with a reason that the source is told
s      split into parts, each with an approval of its own
v      show it whole
space  later: it goes to the end of the queue
u      take back the last decision, if it was a or A
Enter  show it again
q      quit"""


@dataclass
class Queue(KeyQueue):
    """``last``: the tasks that the last decision approved, as long as it can be taken back."""

    last: list[Item] = field(default_factory=list)
    _steps: int = field(default=0, repr=False)

    help, short_help = HELP, SHORT_HELP

    def run(self) -> None:
        """Returns once every task was looked at, or the person leaves."""
        self.terminal.say(SHORT_HELP)
        earlier = Handoffs(self.app)
        while self.items and self.answered(shown_approval(self.app, self.items, earlier)):
            pass
        self.terminal.say(f"{self.decided} decided, {len(self.items)} left.")

    def look_again(self, shown: ShownApproval) -> None:
        """Reads a task whose decision was refused: somebody else was first, or its content has changed. It stays in the
        queue if it still waits."""
        try:
            found = self.app.client.get(f"/tasks/{shown.item['id']}")
        except Refused:
            found = {"state": "gone"}
        if found["state"] == "needs":
            self.items[0] = found
        else:
            self.items.pop(0)

    def _shown(self, shown: ShownApproval) -> Item | None:
        """Returns the handoff if the person has seen all of it, else None."""
        if shown.handoff is None:
            self.terminal.say("✗ Its content can't be read here, and nothing is decided unseen: x dismisses it.")
        return shown.handoff if shown.handoff is not None and self.has_seen() else None

    def _send(self, item: Item, verb: str, body: dict[str, Any]) -> None:
        self._steps += 1
        key = f"{self.app.key}-q{self._steps}"
        changed = self.app.client.call(Request[Any]("POST", f"/tasks/{item['id']}/{verb}", body, key))
        task = changed.get("task", changed)
        put_off = task["state"] == "needs" and task["deferred_until"]
        self.terminal.say(f"✓ {item['id']} is {f'put off until {put_off}' if put_off else said(task['state'])}")

    def _done_with(self, *items: Item) -> bool:
        ids = {each["id"] for each in items}
        self.items = [each for each in self.items if each["id"] not in ids]
        self.decided, self.last = self.decided + len(items), []
        return True

    def _approve(self, shown: ShownApproval, verb: str) -> bool:
        if (handoff := self._shown(shown)) is None:
            return False
        body = seen(handoff)
        while True:  # the next refusal is about another agent of open work
            try:
                self._send(shown.item, verb, body)
            except Refused as refusal:
                if refusal.code != "agent_changed":
                    raise
                if not takes_as_it_is(self.app, self.terminal, refusal.problem):
                    return False
                body |= looked_at(refusal.problem)
            else:
                return self._done_with(shown.item)

    def approve(self, shown: ShownApproval) -> bool:
        if is_approved := self._approve(shown, "approve"):
            self.last = [shown.item]
        return is_approved

    def approve_next(self, shown: ShownApproval) -> bool:
        return self._approve(shown, "approve-next")

    def approve_alike(self, shown: ShownApproval) -> bool:
        if (handoff := self._shown(shown)) is None:
            return False
        tell_lookalikes(self.app, self.terminal, shown, self.items)
        alike = like(shown.item, self.items)
        if len(alike) == 1:
            self.terminal.say("Nothing else that waits has this very content: a approves this one.")
            return False
        self.terminal.say(f"{len(alike)} have this very content; they differ in: {apart(alike)}")
        if not says_yes(self.terminal, f"Approve these {len(alike)}"):
            return False
        self._steps += 1
        wanted = [each | digest_of(handoff) for each in alike]
        answers = approve_all(self.app, wanted, key=f"q{self._steps}-")
        while changed := changed_agents(answers):
            problem = next(iter(changed.values()))
            if not takes_as_it_is(self.app, self.terminal, problem):
                break
            its = {task_id: each for task_id, each in changed.items() if each["agent"] == problem["agent"]}
            wanted = [each | (looked_at(its[each["id"]]) if each["id"] in its else {}) for each in wanted]
            answers = [each for each in answers if each["task_id"] not in its]
            self._steps += 1
            again = [each for each in wanted if each["id"] in its]
            answers += approve_all(self.app, again, key=f"q{self._steps}-agent-")
        for each in answers:
            problem = each["problem"]
            self.terminal.say(
                f"✓ {each['task_id']} is approved" if problem is None else f"✗ {each['task_id']}: {problem['detail']}"
            )
        self._done_with(*alike)
        approved = {each["task_id"] for each in answers if each["problem"] is None}
        self.last = [each for each in alike if each["id"] in approved]
        self.decided -= len(alike) - len(self.last)
        return True

    def defer(self, shown: ShownApproval) -> bool:
        said = self.terminal.line("Until when (2h, 3d, a time)?")
        if not said:
            return False
        until = typed_values.time(said, now=self.app.clock(), is_past=False)
        self._send(shown.item, "defer", {"until": until, **seen(shown.handoff or shown.item)})
        return self._done_with(shown.item)

    def dismiss(self, shown: ShownApproval) -> bool:
        reason = self.terminal.line("Why?")
        if not reason:
            return False
        self._send(shown.item, "dismiss", {"reason": reason})
        return self._done_with(shown.item)

    def split(self, shown: ShownApproval) -> bool:
        if (handoff := self._shown(shown)) is None:
            return False
        parts: list[dict[str, str]] = []
        while part := self.terminal.line(f"Part {len(parts) + 1} (empty: no more)?"):
            parts.append({"summary": part})
        if not parts:
            return False
        self._send(shown.item, "split", {"parts": parts, **seen(handoff)})
        return self._done_with(shown.item)

    def take_late(self, shown: ShownApproval) -> bool:
        """Resolves the task with a result that came after its claim was over: a person has looked at it."""
        if not shown.late:
            self.terminal.say("No result came too late.")
            return False
        if not self.has_seen():
            return False
        result = shown.late[-1]
        if len(shown.late) > 1 and (said := self.terminal.line(f"Which, 1 to {len(shown.late)} (empty: the last)?")):
            if not (said.isdecimal() and 1 <= int(said) <= len(shown.late)):
                raise Misused(f"{said} is none of them", f"there are 1 to {len(shown.late)}")
            result = shown.late[int(said) - 1]
        reason = f"The result of {result['agent']}, which came too late under claim {result['fence']}, is taken."
        self._send(shown.item, "resolve", {"output": output_of(result["content"]), "reason": reason})
        return self._done_with(shown.item)

    def undo(self, _look: ShownApproval) -> bool:
        """Takes back the last decision, and no earlier one."""
        if not self.last:
            self.terminal.say("There is no approval to take back: u takes back the last decision, if it was a or A.")
            return False
        taken = [each for each in self.last if self._took_back(each)]
        self.items[:0] = taken
        self.last, self.decided = [], self.decided - len(taken)
        return bool(taken)

    def _took_back(self, item: Item) -> bool:
        try:
            self._send(item, "undo", {})
        except Refused as refusal:
            self.terminal.say(f"✗ {item['id']} stays approved: {refusal.what}: {refusal.why}")
            return False
        return True


Queue.verbs = {
    **LOOKS,
    "a": Queue.approve,
    "A": Queue.approve_alike,
    "n": Queue.approve_next,
    "t": Queue.take_late,
    "d": Queue.defer,
    "x": Queue.dismiss,
    "s": Queue.split,
    "u": Queue.undo,
}
