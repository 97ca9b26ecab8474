from __future__ import annotations

import pytest

from support.worlds.http_agents import HttpAgents
from support.worlds.mcp_client import ERAS, McpClient


@pytest.fixture(params=ERAS)
def client(request: pytest.FixtureRequest, http_agents: HttpAgents) -> McpClient:
    """In each era, in a workspace with agents."""
    return McpClient(http_agents.gateway, request.param)
