"""The approvals queue: what waits, one after the other, and a key for each decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from baton_cli import given
from baton_cli.app import App
from baton_cli.exits import Misused, Refused
from baton_cli.text import one_line
from baton_cli.wire import Request

Item = dict[str, Any]
MOST_AT_ONCE = 25
HELP = (
    "a approve · A all like this · n approve for a worker · d defer · x dismiss · "
    "s split · space later · u undo · q quit"
)


class Desk(Protocol):
    """Where a person sits: keys, lines, and what is shown."""

    def key(self) -> str: ...

    def line(self, question: str) -> str:
        """Empty if nothing was typed."""

    def show(self, item: Item, handoff: Item | None, place: str) -> None: ...

    def say(self, text: str) -> None: ...


def direction(item: Item) -> str:
    return f"{item['source_agent']} → {item['target_agent'] or 'any agent'}"


def group_of(item: Item) -> tuple[str, str]:
    """Direction and reason: what is decided alike."""
    return direction(item), one_line(item["title"]).casefold()


def grouped(items: list[Item]) -> list[Item]:
    """The most urgent group first; within a group as they came."""
    order: dict[tuple[str, str], int] = {}
    for number, item in enumerate(sorted(items, key=lambda each: (each["priority"], each["created_at"]))):
        order.setdefault(group_of(item), number)
    return sorted(items, key=lambda each: (order[group_of(each)], each["priority"], each["created_at"]))


def approve_all(app: App, items: list[Item], purpose: str = "dispatch") -> list[Item]:
    """The answers, each of its own: 25 at once."""
    answers: list[Item] = []
    for start in range(0, len(items), MOST_AT_ONCE):
        part = items[start : start + MOST_AT_ONCE]
        wanted = [{"task_id": each["id"], "revision": each.get("revision"), "for": purpose} for each in part]
        request = Request("POST", "/approvals", {"items": wanted}, f"{app.key}-{start}")
        answers += app.client.call(request)["items"]
    return answers


@dataclass
class Queue:
    """``decided``: how many; ``last``: what was approved last, and can be taken back."""

    app: App
    desk: Desk
    items: list[Item]
    decided: int = 0
    last: Item | None = None
    _steps: int = field(default=0, repr=False)

    def run(self) -> None:
        """Until everything was looked at, or the person leaves."""
        self.desk.say(HELP)
        while self.items:
            item = self.items[0]
            self.desk.show(item, self._handoff(item), self._place())
            if not self._answered(item):
                break
        self.desk.say(f"{self.decided} decided, {len(self.items)} left.")

    def _place(self) -> str:
        alike = sum(group_of(each) == group_of(self.items[0]) for each in self.items)
        return f"{len(self.items)} left" + (f", {alike} like this" if alike > 1 else "")

    def _handoff(self, item: Item) -> Item | None:
        try:
            found: Item = self.app.client.get(f"/handoffs/{item['handoff_id']}")
        except Refused:
            return None
        return found

    def _answered(self, item: Item) -> bool:
        """Reads keys until one is a decision. False: the person leaves."""
        while True:
            key = self.desk.key()
            if key in {"q", "\x04", "\x1b"}:
                return False
            verb = _VERBS.get(key)
            if verb is None:
                self.desk.say(HELP)
                continue
            try:
                if verb(self, item):
                    return True
            except (Refused, Misused) as refusal:
                self.desk.say(f"✗ {refusal.what}: {refusal.why}")
                if isinstance(refusal, Refused):
                    self._look_again(item)
                    return True

    def _look_again(self, item: Item) -> None:
        """Somebody else was first, or the content has changed: the item as it is now, or none."""
        try:
            found = self.app.client.get(f"/tasks/{item['id']}")
        except Refused:
            found = {"state": "gone"}
        if found["state"] == "needs":
            self.items[0] = found
        else:
            self.items.pop(0)

    def _send(self, item: Item, verb: str, body: dict[str, Any]) -> None:
        self._steps += 1
        key = f"{self.app.key}-q{self._steps}"
        changed = self.app.client.call(Request("POST", f"/tasks/{item['id']}/{verb}", body, key))
        task = changed.get("task", changed)
        self.desk.say(f"✓ {item['id']} is {task['state']}")

    def _done_with(self, *items: Item) -> bool:
        ids = {each["id"] for each in items}
        self.items = [each for each in self.items if each["id"] not in ids]
        self.decided += len(items)
        return True

    def approve(self, item: Item) -> bool:
        self._send(item, "approve", {"revision": item["revision"]})
        self.last = item
        return self._done_with(item)

    def approve_next(self, item: Item) -> bool:
        self._send(item, "approve-next", {"revision": item["revision"]})
        self.last = item
        return self._done_with(item)

    def approve_alike(self, item: Item) -> bool:
        alike = [each for each in self.items if group_of(each) == group_of(item)]
        said = {each["task_id"]: each for each in approve_all(self.app, alike)}
        approved = [each for each in alike if said[each["id"]]["status"] == "approved"]
        for each in alike:
            problem = said[each["id"]]["problem"]
            self.desk.say(f"✓ {each['id']} is approved" if problem is None else f"✗ {each['id']}: {problem['detail']}")
        self._done_with(*alike)
        self.decided -= len(alike) - len(approved)
        return True

    def defer(self, item: Item) -> bool:
        said = self.desk.line("Until when (2h, 3d, a time)?")
        if not said:
            return False
        until = given.time(said, now=self.app.clock(), is_past=False)
        self._send(item, "defer", {"until": until, "revision": item["revision"]})
        return self._done_with(item)

    def dismiss(self, item: Item) -> bool:
        reason = self.desk.line("Why?")
        if not reason:
            return False
        self._send(item, "dismiss", {"reason": reason})
        return self._done_with(item)

    def split(self, item: Item) -> bool:
        parts: list[dict[str, str]] = []
        while part := self.desk.line(f"Part {len(parts) + 1} (empty: no more)?"):
            parts.append({"summary": part})
        if not parts:
            return False
        self._send(item, "split", {"parts": parts, "revision": item["revision"]})
        return self._done_with(item)

    def later(self, _item: Item) -> bool:
        self.items.append(self.items.pop(0))
        return True

    def undo(self, _item: Item) -> bool:
        if self.last is None:
            self.desk.say("Nothing was approved yet.")
            return False
        self._send(self.last, "undo", {})
        self.items.insert(0, self.last)
        self.last, self.decided = None, self.decided - 1
        return True


_VERBS: dict[str, Callable[[Queue, Item], bool]] = {
    "a": Queue.approve,
    "A": Queue.approve_alike,
    "n": Queue.approve_next,
    "d": Queue.defer,
    "x": Queue.dismiss,
    "s": Queue.split,
    " ": Queue.later,
    "u": Queue.undo,
}
