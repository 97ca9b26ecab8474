"""The earlier approved requests that a new one is compared with, read from the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from baton_cli.command_context import CommandContext
from baton_cli.request_warnings import MOST_EARLIER, Finding, Report, report
from baton_cli.request_warnings.findings import in_order
from baton_cli.request_warnings.inspection import skeleton
from baton_client.errors import Refused

Item = dict[str, Any]
PAGES = 4
# States that a task has only after an approval.
_NO_TEXTS = {"target_agent", "conversation_id", "history", "earlier"}
APPROVED = ("delegated", "next", "claimed", "waiting", "done", "failed")


def warnings_of_question(question: Item) -> Report:
    """Returns the warnings about a question as the API returns it. Only actions are compared with earlier ones. The
    texts that the target of a handoff tool gets are inspected."""
    found = _compared(question)
    inspected = report({"handoff": texts_of(question.get("handoff") or {})}, []).warnings
    more = [each for each in inspected if each.kind != "first"]
    return replace(found, warnings=[*_names(question, found.warnings), *in_order([*found.warnings, *more])])


def texts_of(handoff: Item) -> Item:
    """Returns the fields of a question's ``handoff`` that hold texts of agents."""
    return {name: value for name, value in handoff.items() if name not in _NO_TEXTS}


def _names(question: Item, found: list[Finding]) -> Iterator[Finding]:
    """Yields names that the API marks by Unicode's table of confusable letters, unless they are marked already."""
    for each in question.get("warnings") or ():
        if each["kind"] == "looks_like" or not any(each["name"] in one.now for one in found):
            yield Finding("confusable", each["at"], each["name"], each["like"] or "")


def _compared(question: Item) -> Report:
    now = {name: question.get(name) for name in ("tool", "text", "arguments", "options", "form")}
    if question["kind"] != "action":
        found = report(now, [])
        return Report([each for each in found.warnings if each.kind != "first"], [], [], 0, None)
    now["arguments"] = question.get("changed") or question["arguments"]
    earlier = [
        {"tool": question["tool"], "text": each["text"], "arguments": each["arguments"]} for each in _approved(question)
    ]
    return report(now, earlier)


def _approved(question: Item) -> list[Item]:
    found: list[Item] = question.get("earlier") or []
    return found


@dataclass
class Handoffs:
    """The last approved handoffs of a pair of agents. They are read once for each pair: up to four pages of the
    target's tasks, and each handoff once."""

    app: CommandContext
    _found: dict[tuple[str, str | None], list[tuple[Item, Item]]] = field(default_factory=dict, repr=False)
    _slugs: list[str] | None = field(default=None, repr=False)

    def warnings(self, item: Item, handoff: Item) -> Report:
        """Returns the warnings about a waiting task, which asks for this handoff."""
        earlier = self._earlier(item["source_agent"], item["target_agent"])
        found = report(handoff, [each for _, each in earlier])
        of_task = [*_of_task(item, [task for task, _ in earlier]), *confusable_agents(item, self._agents())]
        return replace(found, warnings=[*of_task, *found.warnings])

    def _agents(self) -> list[str]:
        """Returns the slugs of the workspace's agents, which are read once."""
        if self._slugs is None:
            pages = self.app.client.pages("/agents", {"limit": 100})
            self._slugs = [each["slug"] for page in pages for each in page["items"]]
        return self._slugs

    def _earlier(self, source: str, target: str | None) -> list[tuple[Item, Item]]:
        if (source, target) not in self._found:
            self._found[source, target] = list(self._read(source, target))
        return self._found[source, target]

    def _read(self, source: str, target: str | None) -> list[tuple[Item, Item]]:
        query: dict[str, Any] = {"state": list(APPROVED), "limit": 100, **({"agent": target} if target else {})}
        tasks: list[Item] = []
        for number, page in enumerate(self.app.client.pages("/tasks", query), 1):
            tasks += [
                each for each in page["items"] if (each["source_agent"], each["target_agent"]) == (source, target)
            ]
            if len(tasks) >= MOST_EARLIER or number == PAGES:
                break
        found = [(each, self._handoff(each["handoff_id"])) for each in tasks[:MOST_EARLIER]]
        return [(task, handoff) for task, handoff in found if handoff is not None]

    def _handoff(self, handoff_id: str) -> Item | None:
        try:
            found: Item = self.app.client.get(f"/handoffs/{handoff_id}")
        except Refused:
            return None
        return found


def confusable_agents(item: Item, slugs: list[str]) -> Iterator[Finding]:
    """Yields the source and the target if another agent's name looks like theirs."""
    for at, slug in (("source.agent", item["source_agent"]), ("target.agent", item["target_agent"])):
        key = skeleton(slug or "", is_name=True)
        if slug and (
            like := next((each for each in slugs if each != slug and skeleton(each, is_name=True) == key), None)
        ):
            yield Finding("confusable", at, slug, like)


def _of_task(item: Item, earlier: list[Item]) -> list[Finding]:
    askers = {each["created_by"] for each in earlier}
    found = [Finding("revised", "", str(item["revision"]))] if item["revision"] > 1 else []
    if len(earlier) > 1 and item["created_by"] not in askers:
        found.append(Finding("asker", "", item["created_by"], ", ".join(sorted(askers)[:3])))
    return found
