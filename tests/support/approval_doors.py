"""The doors on which a person approves a handoff, as texts: the API's view, the screen of ``baton approvals``, and the
console's task page and page of approvals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from baton.domain.access.principal import Principal
from baton_cli.approval_decisions import ShownApproval
from baton_cli.screen import Screen
from baton_cli.screens import approval
from baton_cli.screens import question as question_screen
from baton_cli.screens.message import Cut
from support.console_pages import shown
from support.gateway import Gateway

# The page of approvals takes its task from the query, which the tests' browser doesn't have.
_DESK = (
    'import { html } from "../lib.js"; import Approvals from "./approvals.js";'
    "export default ({ params }) => html`<${Approvals} query=${{ task: params.id }} />`;"
)
_PAGES = """
for (const name of ["scrollTo", "scrollIntoView", "scrollBy", "matches", "closest"]) {
  HTMLElement.prototype[name] = () => null;
}
writeFileSync("static/pages/desk_of_test.js", desk);
served[`/tasks/${task.id}`] = task; served[`/handoffs/${task.handoff_id}`] = handoff; served["/chain"] = chain;
served["/events"] = { events: [], next_after: 0 }; served["/events/wait"] = () => [404, { code: "x" }];
await open("task", { id: task.id });
const page = text();
served["/tasks"] = { items: [listed], next_cursor: null };
const approved = ({ task_id }) => ({ task_id, status: "approved", problem: null, task: listed });
served["/approvals"] = ({ items }) => [200, { items: items.map(approved) }];
await open("desk_of_test", { id: task.id });
await look();
const read = text();
await press("Approve");
return [page, read, sent];"""

_QUESTION = """
served[`/questions/${question.id}`] = question; served[`/tasks/${task.id}`] = task; served["/chain"] = chain;
writeFileSync("static/pages/question_of_test.js", whole);
await open("question_of_test", { id: question.id, task: task.id }); await look(); return text();"""
_WHOLE = (
    'import { html } from "../lib.js"; import { Whole } from "./questions/one.js"; const nothing = () => {};'
    "export default ({ params }) => html`<${Whole} at=${{ id: params.id, task_id: params.task }} shown=${null}"
    " onShown=${nothing} run=${nothing} onBack=${nothing} />`;"
)


def waiting(gateway: Gateway, by: Principal, agent: str | None = None) -> Any:
    """Returns the only task that waits for approval. ``agent``: among the tasks that this agent may claim."""
    items = gateway.send(by, "GET", "/tasks", query="state=needs").json["items"]
    (task,) = [each for each in items if agent is None or each["target_agent"] in {agent, None}]
    return task


def view_of(gateway: Gateway, by: Principal, task: Any) -> Any:
    found = gateway.get(by, f"/handoffs/{task['handoff_id']}")
    assert found.status == 200, found.text
    return found.json


def screen_of(task: Any, view: Any, width: int = 5_000) -> str:
    """Returns the screen of ``baton approvals``, with nothing cut."""
    screen = Screen(datetime.now(UTC), width=width)
    approval.looked_at(screen, ShownApproval(task, view, [], ""), Cut(is_whole=True))
    return screen.text()


def pages_of(gateway: Gateway, by: Principal, task: Any, view: Any, folder: Path) -> tuple[str, str, list[Any]]:
    """Returns the texts of the task's page and of the page of approvals, and the requests of a press of Approve there.
    ``folder``: an empty folder."""
    whole = gateway.get(by, f"/tasks/{task['id']}").json
    chain = gateway.get(by, f"/workflows/{task['workflow_id']}/chain").json
    page, desk, sent = shown(folder, _PAGES, desk=_DESK, task=whole, handoff=view, chain=chain, listed=task)
    return one_spaced(page), one_spaced(desk), sent


def asked(gateway: Gateway, by: Principal) -> Any:
    """Returns the only open question."""
    (listed,) = gateway.get(by, "/questions").json["items"]
    found = gateway.get(by, f"/tasks/{listed['task_id']}/questions/{listed['id']}")
    assert found.status == 200, found.text
    return found.json


def question_doors(gateway: Gateway, by: Principal, question: Any, folder: Path) -> dict[str, str]:
    """Returns the screen of ``baton approvals`` and the console's page of a question, as texts. ``folder``: empty."""
    screen = Screen(datetime.now(UTC), width=5_000)
    question_screen.looked_at(screen, question, Cut(is_whole=True))
    task = gateway.get(by, f"/tasks/{question['task_id']}").json
    chain = gateway.get(by, f"/workflows/{task['workflow_id']}/chain").json
    page = shown(folder, _QUESTION, whole=_WHOLE, question=question, task=task, chain=chain)
    return {"screen": screen.text(), "page": one_spaced(page)}


def one_spaced(text: str) -> str:
    """Returns the text with single spaces: the console's texts are joined from elements."""
    return " ".join(text.split())


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields each text of a document with its path, and each key under the path of its object."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield f"{path}.*", name
            yield from leaves(each, f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, f"{path}[]")
    elif isinstance(value, str):
        yield path, value


def has(door: str, text: str) -> bool:
    """True if the door shows the text, as it is or as JSON."""
    return text in door or json.dumps(text, ensure_ascii=False)[1:-1] in door
