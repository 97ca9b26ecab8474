"""Those who work in the tracker: people and other connections that change the pages of tasks, and its webhook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from baton.domain.tracker.webhook import sign
from baton.services.access.change_settings import change_settings
from baton.services.tracker.import_tracker import import_tracker
from baton.services.tracker.open_webhook import open_webhook
from baton.services.tracker.receive_webhook import receive_webhook
from baton.services.tracker.retry_tracker import retry_tracker
from baton.services.tracker.tracker_health import tracker_health
from notion_webhook.delivery import NotionEvent
from simulation.actors.people import OPERATOR, SERVICE, human
from simulation.tracker import BOT, DATABASE, WEBHOOK_TOKEN

if TYPE_CHECKING:
    from simulation.actors.actor_context import ActorContext
    from simulation.tracker import Page

MOST_IMPORTED = 100
WORDS = ("Done", "Done", "Cancelled", "Closed", "In progress", "Not started", "Blocked")


class Editor:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._deliveries = 0
        self._address = self._shaken_hands() if context.draw(2) else ""

    def act(self) -> None:
        sim = self._sim
        while not sim.is_stopping:
            self._context.rest(60)
            if pages := list(sim.tracker.pages.values()):
                self._edit(sim.pick(pages[-6:]))
            if self._draw(8) == 7:
                self._context.ask(
                    "retry tracker",
                    human(),
                    lambda idempotency_key: retry_tracker(sim.deps, human(), None, idempotency_key),
                )
            if self._draw(8) == 7:
                self._context.look(lambda: tracker_health(sim.deps, human()))
            if self._draw(8) == 7:
                self._add()
            if self._draw(40) == 39:
                self._switch(sim.pick([{"tracker": None}, {"tracker": {"database": DATABASE}}]))

    def _switch(self, values: dict[str, Any]) -> None:
        self._context.look(lambda: change_settings(self._sim.deps, OPERATOR, values))

    def _add(self) -> None:
        """A handoff that only the tracker knows, until somebody takes it over into Baton."""
        sim, (source, target) = self._sim, self._sim.pick([("A", "B"), ("B", "A"), ("A", "C"), ("A", "nobody")])
        sim.tracker.added(f"Handoff: {source} → {target} — 2026-11-18", "u1", sim.pick(WORDS))
        self._context.ask(
            "import tracker",
            human(),
            lambda idempotency_key: import_tracker(sim.deps, human(), lambda: True, idempotency_key),
            most_effects=MOST_IMPORTED,
        )

    def _edit(self, page: Page) -> None:
        sim, by = self._sim, self._sim.pick(["u1", "u1", "u2", BOT])
        if self._draw(30) == 29:
            page.in_trash = True
        word = sim.pick(WORDS)
        if word == page.status and not page.in_trash:  # no edit at all: nobody could tell it from another one
            return
        sim.tracker.edited(page, by, word)
        if self._address and self._draw(4):
            event: dict[str, Any] = {
                "type": "page.properties_updated",
                "authors": [{"id": by, "type": "bot" if by == BOT else "person"}],
                "data": {"updated_properties": ["status"]},
                "entity": {"type": "page", "id": page.id},
            }
            sim.spawn("webhook", lambda: self._deliver(event), sim.now_ms + self._draw(60_000))

    def _deliver(self, event: dict[str, Any]) -> None:
        """At least once."""
        sim = self._sim
        self._deliveries += 1
        at = sim.clock.now().isoformat(timespec="milliseconds")
        content = {"id": f"delivery{self._deliveries}", "timestamp": at, **event}
        raw = json.dumps(content).encode()
        delivery = NotionEvent(raw=raw, content=content, signature=f"sha256={sign(WEBHOOK_TOKEN, raw)}")

        def send(_once: object) -> None:
            receive_webhook(sim.deps, self._address, delivery)

        self._context.ask("webhook", SERVICE, send, is_keyed=False)

    def _shaken_hands(self) -> str:
        _, address = open_webhook(self._sim.deps, human())
        content = {"verification_token": WEBHOOK_TOKEN}
        receive_webhook(self._sim.deps, address, NotionEvent(raw=b"", content=content, signature=None))
        return address
