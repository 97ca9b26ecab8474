"""The health check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.views import Health
from rest.answers import Answer, ok
from rest.routing import Call, Routes

if TYPE_CHECKING:
    from baton.ports import Deps

routes = Routes()


@routes.get("/healthz", answers={200: Health}, needs_token=False)
def health(_baton: Deps, _call: Call[None, None]) -> Answer:
    """Whether the API answers. Needs no token."""
    return ok({"status": "ok"})
