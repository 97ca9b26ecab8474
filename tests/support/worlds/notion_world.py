"""A world whose workspace keeps its tasks in Notion: the stand-in is in this process, and notices are handled."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from baton.adapters.notion import NotionTrackers
from baton.domain.access.principal import Principal
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tracker.page_sync import PageSync
from baton.domain.tracker.webhook import Webhook
from baton.ports.deps import Deps
from baton.ports.tracker import Trackers
from baton.services.access.change_settings import change_settings
from baton.services.tasks.sweep import sweep
from baton.services.tracker.open_webhook import open_webhook
from baton.services.tracker.receive_webhook import Received, receive_webhook
from baton.services.tracker.set_tracker_token import set_tracker_token
from baton.services.tracker.sync_tracker import SyncReport, sync_tracker
from notion_webhook.delivery import NotionEvent
from support.worlds.world import WORKSPACE, World, human
from tools.stand_ins.fake_notion import STATUS, Database, FakeNotion, Page

TOKEN = "ntn_fake_token"


@dataclass
class NotionWorld(World):
    """``notion``: the stand-in, on the world's clock. ``tasks``: its database with the workspace's tasks."""

    notion: FakeNotion = field(init=False)
    tasks: Database = field(init=False)
    status_type: str = STATUS
    properties: dict[str, Any] | None = None
    tracker: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.notion = FakeNotion(self.clock.now, token=TOKEN)
        self.tasks = self.notion.add_database(properties=self.properties, status_type=self.status_type)
        super().__post_init__()
        transport = self.notion.transport()
        self.deps = self.baton_with(
            NotionTrackers(self.deps.secrets, "https://notion.example", transport=transport, clock=self.clock)
        )

    def baton_with(self, trackers: Trackers) -> Deps:
        return replace(self.deps, trackers=trackers)

    @property
    def tracker_settings(self) -> TrackerSettings:
        settings = self.store.settings.of(WORKSPACE).tracker
        assert settings is not None
        return settings

    def settle(self, workspace: str = WORKSPACE) -> NotionWorld:
        super().settle(workspace)
        set_tracker_token(self.deps, human(workspace), TOKEN)
        change_settings(self.deps, human(workspace), {"tracker": {"database": self.tasks.id, **self.tracker}})
        return self

    def sync(self, rounds: int = 20) -> list[SyncReport]:
        """Handles every notice that is due, and the notices that follow, as sync-tracker does."""
        done: list[SyncReport] = []
        for _ in range(rounds):
            due = [notice for notice in self.tracker_queue.notices if notice[2] <= 0]
            later = [notice for notice in self.tracker_queue.notices if notice[2] > 0]
            self.tracker_queue.notices[:] = later
            if not due:
                break
            done += [sync_tracker(self.deps, workspace, task_id, lambda: 120.0) for workspace, task_id, _ in due]
        return done

    def minutes(self, count: int = 1) -> None:
        """Lets minutes pass: delayed notices are handled, and the sweeper runs."""
        for _ in range(count):
            self.clock.advance(60)
            self.tracker_queue.notices[:] = [(w, t, max(0, delay - 60)) for w, t, delay in self.tracker_queue.notices]
            sweep(self.deps)
            self.sync()

    def page(self, task_id: str) -> Page:
        """Returns the only page of a task."""
        (page,) = [page for page in self.notion.pages.values() if page.task_id == task_id]
        return page

    def row(self, task_id: str, workspace: str = WORKSPACE) -> PageSync:
        row = self.store.tracker.page_sync(workspace, task_id)
        assert row is not None
        return row

    def hook(self, by: Principal | None = None) -> Hook:
        """Returns a webhook that was verified. The stand-in delivers to it at once."""
        webhook, address = open_webhook(self.deps, by or human())
        hook = Hook(self, address, webhook)
        self.notion.subscribe(hook.deliver)
        return hook


@dataclass
class Hook:
    world: NotionWorld
    address: str
    webhook: Webhook
    received: list[Received] = field(default_factory=list)

    def deliver(self, body: bytes, headers: dict[str, str]) -> int:
        signature = {name.lower(): value for name, value in headers.items()}.get("x-notion-signature")
        self.received.append(
            receive_webhook(self.world.deps, self.address, NotionEvent(body, json.loads(body), signature))
        )
        return 200
