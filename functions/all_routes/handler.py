"""Every route of the API, for a deployment whose front door is a Function URL: a URL belongs to one function."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from api.handler import app as everything_else
from baton.bootstrap import begin
from console import handler as console
from create_handoff_marker.handler import app as markers
from mcp_door.handler import app as mcp
from notion_webhook.handler import app as webhook
from wait.handler import app as polls

# The first four have what the gateway sends to functions of their own. The last one answers whatever else comes.
APPS = (markers, polls, mcp, webhook, everything_else)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    if console.is_for_console(event):
        return console.lambda_handler(event, context)
    begin(context)
    app = next((each for each in APPS if each.has_route_of(event)), everything_else)
    return app(event)
