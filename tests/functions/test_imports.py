"""What a cold start pays for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "function",
    ["process_task", "publish_events", "sweep_stale_claims", "authorize", "create_handoff_marker", "notion_webhook"],
)
def test_function_without_models_does_not_load_pydantic(function: str) -> None:
    program = f"import sys, {function}.handler; print([m for m in sys.modules if m.split('.')[0] == 'pydantic'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("function", ["api", "wait", "create_handoff_marker", "notion_webhook"])
def test_no_function_loads_the_router_that_it_does_not_use(function: str) -> None:
    program = f"import sys, {function}.handler; print('aws_lambda_powertools.event_handler' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_nothing_happens_at_import() -> None:
    """No environment is read and no client made before the first call."""
    functions = (
        *("api", "wait", "create_handoff_marker", "notion_webhook", "process_task", "sync_tracker"),
        *("publish_events", "sweep_stale_claims", "authorize"),
    )
    program = "; ".join(f"import {function}.handler" for function in functions)
    subprocess.run([sys.executable, "-W", "error", "-c", program], env=_bare(), check=True)


def _bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BATON_", "POWERTOOLS_"))}
