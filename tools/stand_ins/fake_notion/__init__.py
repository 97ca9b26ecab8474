"""A small, stateful stand-in for Notion's REST API (version 2026-03-11), for tests and for `make run`.

It keeps a workspace in memory: databases with one data source each, pages, comments, and webhook subscriptions.
Unlike Notion it has no nested blocks, no pages within pages, no rich text but plain text and links, no files and no
views; and a webhook subscription is in force as soon as it is made, without the token being pasted back.
"""

from __future__ import annotations

from tools.stand_ins.fake_notion.errors import Reply
from tools.stand_ins.fake_notion.fake import Call, FakeNotion
from tools.stand_ins.fake_notion.faults import Fault, Refused, ReplyLost, ScriptedFault
from tools.stand_ins.fake_notion.model import Database, Page
from tools.stand_ins.fake_notion.schema import SELECT, STATUS
from tools.stand_ins.fake_notion.server import Server, serve
from tools.stand_ins.fake_notion.webhooks import Subscription

__all__ = [
    "SELECT",
    "STATUS",
    "Call",
    "Database",
    "FakeNotion",
    "Fault",
    "Page",
    "Refused",
    "Reply",
    "ReplyLost",
    "ScriptedFault",
    "Server",
    "Subscription",
    "serve",
]
