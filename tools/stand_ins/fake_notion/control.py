"""`/control`: what a person, an administrator or bad luck does, for programs that drive the running stand-in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tools.stand_ins.fake_notion.errors import NotionError, Reply, json_reply
from tools.stand_ins.fake_notion.fake import FakeNotion
from tools.stand_ins.fake_notion.faults import Fault, ScriptedFault
from tools.stand_ins.fake_notion.model import Database, Page
from tools.stand_ins.fake_notion.texts import dashed, iso
from tools.stand_ins.fake_notion.webhooks import Subscription

Json = dict[str, Any]

FAULTS = {
    "timeout_before": Fault.timeout_before(),
    "timeout_after": Fault.timeout_after(),
    "refused": Fault.refused(),
}


def respond(fake: FakeNotion, method: str, parts: Sequence[str], asked: Mapping[str, str], body: bytes) -> Reply:
    """`parts` is the path after /control, split at its slashes."""
    try:
        return json_reply(200, _answer(fake, method, parts, asked, dict(json.loads(body or b"{}"))))
    except KeyError as error:
        return NotionError(404, f"There is no {error}.").reply()
    except (TypeError, ValueError) as error:
        return NotionError(400, str(error)).reply()


def _answer(fake: FakeNotion, method: str, parts: Sequence[str], asked: Mapping[str, str], given: Json) -> Json:
    match [method, *parts]:
        case ["GET", "databases"]:
            return {"databases": [database_json(database) for database in list(fake.databases.values())]}
        case ["POST", "databases"]:
            return database_json(fake.add_database(**given))
        case ["GET", "pages"]:
            home = asked.get("database_id")
            return {"pages": [page_json(page) for page in (fake.pages_of(home) if home else list(fake.pages.values()))]}
        case ["POST", "pages"]:
            return page_json(fake.pages[fake.add_page(given.pop("database_id", None), **given)])
        case [_, "pages", page_id, *act]:
            return _on_page(fake, fake.pages[dashed(page_id) or page_id], [method, *act], given)
        case ["GET", "subscriptions"]:
            return {"subscriptions": [_subscription(kept) for kept in fake.subscriptions]}
        case ["POST", "subscriptions"]:
            made = fake.subscribe(given.pop("url"), **given)
            return _subscription(made) | {"verification_token": made.verification_token}
        case ["DELETE", "subscriptions", subscription_id]:
            fake.unsubscribe(subscription_id)
            return {}
        case ["POST", "fault"]:
            fake.fault = _fault(given)
            return {}
        case ["DELETE", "fault"]:
            fake.fault = None
            return {}
    raise KeyError(f"{method} /control/{'/'.join(parts)}")


def _on_page(fake: FakeNotion, page: Page, act: Sequence[str], given: Json) -> Json:
    match act:
        case ["GET"]:
            pass
        case ["POST"]:
            fake.edit(page.id, **given)
        case ["POST", "trash"]:
            fake.trash(page.id)
        case ["POST", "restore"]:
            fake.restore(page.id)
        case ["POST", "comments"]:
            fake.comment(page.id, given["text"])
        case ["DELETE"]:
            fake.delete(page.id)
        case _:
            raise KeyError("/".join(act))
    return page_json(page)


def page_json(page: Page) -> Json:
    return {
        "id": page.id,
        "database_id": page.database.id if page.database else None,
        "url": page.url,
        "title": page.title,
        "status": page.status,
        "priority": page.priority,
        "due": page.due,
        "relations": page.relations,
        "task_id": page.task_id,
        "in_trash": page.in_trash,
        "body": page.body,
        "comments": page.comment_texts,
        "created_time": iso(page.created_time),
        "last_edited_time": iso(page.last_edited_time),
    }


def database_json(database: Database) -> Json:
    return {
        "id": database.id,
        "data_source_id": database.data_source_id,
        "title": database.title,
        "url": database.url,
    }


def _subscription(kept: Subscription) -> Json:
    return {"id": kept.id, "url": str(kept.target), "host": kept.host, "database_id": kept.database_id}


def _fault(given: Json) -> ScriptedFault:
    """`{"kind", "status", "retry_after", "code", "seconds", "count", "method", "path"}`; count: how many calls."""
    wanted = {name: given.pop(name) for name in ("count", "method", "path") if name in given}
    kind = given.pop("kind", "error")
    if kind in FAULTS:
        return ScriptedFault(FAULTS[kind], **wanted)
    if kind not in ("error", "slow", "drip"):
        raise ValueError(f"kind should be error, slow, drip or one of {', '.join(FAULTS)}")
    return ScriptedFault(Fault(kind=kind, **({"applied": kind != "error"} | given)), **wanted)
