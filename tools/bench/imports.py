"""Import time of each function as it is shipped, in fresh processes."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.bench.tables import table
from tools.stack.deployment import Say, built, fingerprint

RUNS = 10
HANDLERS = {
    "CreateHandoffMarker": "create_handoff_marker",
    "Api": "api",
    "Wait": "wait",
    "McpDoor": "mcp_door",
    "AllRoutes": "all_routes",
    "ProcessTask": "process_task",
    "SweepStaleClaims": "sweep_stale_claims",
}
LAYERS = ("BatonLayer", "DependenciesLayer")
# What the first invocation makes on top: the clients of AWS's services.
WIRING = """
import importlib, json, sys, time
sys.path[:0] = sys.argv[2:]
begun = time.perf_counter()
importlib.import_module(sys.argv[1] + ".handler")
imported = time.perf_counter()
from baton import bootstrap
bootstrap.wire()
print(json.dumps([imported - begun, time.perf_counter() - imported]))
"""


def show_imports(say: Say) -> None:
    with tempfile.TemporaryDirectory(prefix="baton-bench-") as folder:
        shipped, bare = Path(folder) / "shipped", Path(folder) / "bare"
        with built(fingerprint(), say) as build:  # copies: another make may build while this measures
            for name in (*HANDLERS, *LAYERS):
                shutil.copytree(build / name, shipped / name)
                shutil.copytree(build / name, bare / name, ignore=shutil.ignore_patterns("__pycache__"))
        rows = [_row(function, shipped, bare) for function in HANDLERS]
    table(
        f"Import time in ms, median of {RUNS} fresh processes",
        ("function", "with .pyc", "without", "ratio", "clients, with", "without"),
        rows,
        "The built artifacts: one function and the two layers, nothing else to import from, and nothing written.\n"
        "Clients: what the first invocation adds by making those of DynamoDB and SQS.",
    )


def _row(function: str, shipped: Path, bare: Path) -> list[str]:
    runs = [(_import(function, shipped), _import(function, bare)) for _ in range(RUNS)]
    with_pyc, without, wired, wired_without = (
        statistics.median(run[where][part] * 1_000 for run in runs) for part in (0, 1) for where in (0, 1)
    )
    ratio = f"{without / with_pyc:.1f}"
    return [function, f"{with_pyc:.0f}", f"{without:.0f}", ratio, f"{wired:.0f}", f"{wired_without:.0f}"]


def _import(function: str, artifacts: Path) -> tuple[float, float]:
    """Seconds for importing the handler, and for making its clients."""
    paths = [artifacts / function, *(artifacts / layer / "python" for layer in LAYERS)]
    # -I and -S: neither the caller's environment nor this one's packages. -B: a function's code is read-only.
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", WIRING, HANDLERS[function], *paths],
        env={"BATON_TABLE": "bench", "AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    imported, wired = json.loads(finished.stdout)
    return imported, wired
