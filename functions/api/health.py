"""The health check."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from baton.ports.deps import Deps
from rest import answers, routing

routes = routing.Routes()


class Health(TypedDict):
    status: Literal["ok"]


@routes.get("/healthz", answers={200: Health}, needs_token=False)
def health(_deps: Deps, _call: routing.Call[None, None]) -> answers.Answer:
    """Whether the API answers. Needs no token."""
    return answers.ok({"status": "ok"})
