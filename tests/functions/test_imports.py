"""What a cold start pays for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence


def test_no_function_without_models_loads_pydantic() -> None:
    names = ("process_task", "publish_events", "sweep_stale_claims", "create_handoff_marker", "notion_webhook")
    assert not loaded_with((*names, "listen", "ring"), "pydantic")


def test_no_function_loads_the_router_that_it_does_not_use() -> None:
    names = ("api", "wait", "create_handoff_marker", "mcp_door", "notion_webhook", "listen", "ring")
    assert not loaded_with(names, "aws_lambda_powertools.event_handler")


def loaded_with(functions: Sequence[str], package: str) -> list[str]:
    """What of the package these functions load."""
    handlers = ", ".join(f"{name}.handler" for name in functions)
    program = f"import sys, {handlers}; print(*(name for name in sys.modules if f'{{name}}.'.startswith('{package}.')))"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def test_what_a_function_loads_is_seen() -> None:
    assert "pydantic" in loaded_with(["api"], "pydantic")


def test_nothing_happens_at_import() -> None:
    """No environment is read and no client made before the first call."""
    functions = (
        *("all_routes", "api", "wait", "create_handoff_marker", "mcp_door", "notion_webhook", "process_task"),
        *("console", "publish_events", "sweep_stale_claims", "sync_tracker", "listen", "ring"),
    )
    program = "; ".join(f"import {function}.handler" for function in functions)
    subprocess.run([sys.executable, "-W", "error", "-c", program], env=_bare(), check=True)


def _bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BATON_", "POWERTOOLS_"))}
