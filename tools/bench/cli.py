"""CPU of the command `baton`, each run in a process of its own, against an API that answers at once."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import baton_cli
from support.scripted_api import Answer, scripted_api
from tools.bench.tables import table

RUNS = 11
HANDOFF = {
    "handoff_id": "ho_1",
    "source_agent": "architect",
    "target_agent": "qa",
    "state": "claimed",
    "created_at": "2026-11-18T12:00:00.000Z",
    "title": "Test the login",
}
PAGE = {"items": [HANDOFF] * 25, "next_cursor": None}
# The command line, what more is in its environment, and the most it should take.
LINES: dict[str, tuple[list[str], dict[str, str], int]] = {
    "--help": (["--help"], {}, 100),
    "tasks --help": (["tasks", "--help"], {}, 100),
    "a TAB": ([], {"_BATON_COMPLETE": "bash_complete", "COMP_WORDS": "baton ta", "COMP_CWORD": "1"}, 100),
    "agents list, JSON": (["agents", "list"], {}, 150),
    "handoff list, a screen": (["handoff", "list", "--text"], {}, 250),
}


def show_cli() -> None:
    with scripted_api() as api:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
            "BATON_URL": api.url,
            "BATON_TOKEN": "none",
        }
        rows = []
        for name, (line, more, most) in LINES.items():
            api.answers.clear()
            api.will(*[Answer(body=PAGE)] * (RUNS + 1))
            rows.append([name, f"{_median(line, environment | more):.0f}", str(most)])
    table(
        f"The command `baton`: CPU in ms, median of {RUNS} fresh processes",
        ("", "CPU", "at most"),
        rows,
        "With compiled modules, as they are installed. The request's own time is the API's. A screen loads rich.",
    )


def _median(line: list[str], environment: Mapping[str, str]) -> float:
    """The first run is left out: it compiles."""
    runs = [_cpu(line, environment) for _ in range(RUNS + 1)]
    return statistics.median(runs[1:]) * 1_000


def _cpu(line: list[str], environment: Mapping[str, str]) -> float:
    """Seconds of CPU, user's and system's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "baton_cli", *line]
    subprocess.run(command, env=dict(environment), stdout=subprocess.DEVNULL, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
