"""Workspaces for scenes: a fresh one for each, with the agents that they hand work to."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from baton.domain.access.principal import PrincipalKind
from baton.services.agents.register_agent import register_agent
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, new_workspace
from tools.stack.stack import Stack

RUN_KEY = secrets.token_hex(32)  # every process of a run can resume what another one suspended
AGENTS = ("scout", "reviewer", "tester", "writer")


@contextmanager
def deployed_on(stack: Stack) -> Iterator[Deployed]:
    with stack.http(timeout_seconds=60) as http:
        yield Deployed(stack, http)


def new_room(deployed: Deployed, **settings: Any) -> Tenant:
    """A workspace that knows the scenes' agents."""
    tenant = new_workspace(deployed, **settings)
    human = tenant.principal(PrincipalKind.HUMAN, "alice")
    for slug in AGENTS:
        register_agent(deployed.deps, human, slug, {"name": slug.title()})
    return tenant


def environment(tenant: Tenant, **more: str) -> dict[str, str]:
    """Of a scene's process. It has no proxy, no key and no home of whoever started the run."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "BATON_URL": tenant.deployed.stack.api_url,
        "HUMAN_TOKEN": tenant.human.token or "",
        "AGENT_TOKEN": tenant.service.token or "",
        "OPENAI_API_KEY": "no-key",
        "BATON_RUN_KEY": RUN_KEY,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "PYTHONUNBUFFERED": "1",
        **more,
    }
