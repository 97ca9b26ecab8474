"""The health check."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from baton.ports.deps import Deps
from baton.services.access.check_health import check_health
from rest import answers, models, routing

routes = routing.Routes()


class Health(TypedDict):
    status: Literal["ok"]


class HealthQuery(models.Query):
    """``deep``: read the table, too."""

    deep: Literal["1", "true"] | None = None


@routes.get("/healthz", query=models.query(HealthQuery), answers={200: Health}, refusals=(503,), needs_token=False)
def health(deps: Deps, call: routing.Call[None, HealthQuery]) -> answers.Answer:
    """Whether the API answers; with `deep`, also whether it can read its table: 503 if it can't. Needs no token."""
    check_health(deps, deep=call.query.deep is not None)
    return answers.ok({"status": "ok"})
