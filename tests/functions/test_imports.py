"""What a cold start pays for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

WITHOUT_MODELS = ("process_task", "publish_events", "sweep_stale_claims", "create_handoff_marker", "notion_webhook")
SOCKETS = ("listen", "ring")
WITH_MODELS = ("api", "wait", "mcp_door")
OTHERS = ("all_routes", "console", "sync_tracker")
STAGES = ((*WITHOUT_MODELS, *SOCKETS), WITH_MODELS, OTHERS)
PROGRAM = """
import json, sys
from importlib import import_module
for stage in json.loads(sys.argv[1]):
    for name in stage:
        import_module(f"{name}.handler")
    print(json.dumps(sorted(sys.modules)))
"""


@cache
def loaded() -> list[list[str]]:
    """The modules that there are after each stage, in one process: the functions come one after the other. No
    environment is read and no client made before the first call, and nothing is warned of: there is no environment."""
    line = [sys.executable, "-W", "error", "-c", PROGRAM, json.dumps(STAGES)]
    told = subprocess.run(line, env=_bare(), stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(each) for each in told.splitlines()]


def of(package: str, modules: list[str]) -> list[str]:
    return [name for name in modules if f"{name}.".startswith(f"{package}.")]


def test_no_function_without_models_loads_pydantic() -> None:
    assert not of("pydantic", loaded()[0])


def test_no_function_loads_the_router_that_it_does_not_use() -> None:
    assert not of("aws_lambda_powertools.event_handler", loaded()[1])


def test_what_a_function_loads_is_seen() -> None:
    assert "pydantic" in of("pydantic", loaded()[1])
    assert of("aws_lambda_powertools", loaded()[0])


def test_nothing_happens_at_import() -> None:
    """No environment is read and no client made before the first call."""
    handlers = {f"{name}.handler" for stage in STAGES for name in stage}
    assert handlers <= {*loaded()[2]}


def _bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BATON_", "POWERTOOLS_"))}
