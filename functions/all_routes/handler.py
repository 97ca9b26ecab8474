"""Every route of the API, for a deployment whose front door is a Function URL: a URL belongs to one function."""

from __future__ import annotations

from typing import Any

from api.handler import app as everything_else
from create_handoff_marker.handler import app as markers
from notion_webhook.handler import app as webhook
from wait.handler import app as polls

# What the gateway sends to functions of their own.
APPS = (markers, polls, webhook)


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    app = next((each for each in APPS if each.answers(event)), everything_else)
    return app(event)
