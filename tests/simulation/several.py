"""Seeds are played by several processes at once, each every so-manieth, and added up at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

ADDED = ("episodes", "steps", "trust_steps", "cpu_seconds", "violations")


def run_several(args: argparse.Namespace) -> int:
    """Prints each violation as it is found, and then a line for all processes. Answers with how many were found."""
    with ThreadPoolExecutor(args.processes) as pool:
        told = list(pool.map(lambda number: _played(args, number), range(args.processes)))
    total: dict[str, Any] = {"seed": args.seed, "processes": args.processes}
    total |= {name: round(sum(each[name] for each in told), 1) for name in ADDED}
    total["seconds"] = max(each["seconds"] for each in told)
    for name in ("faults", "seen"):
        kinds = sorted({kind for each in told for kind in each[name]})
        total[name] = {kind: sum(each[name].get(kind, 0) for each in told) for kind in kinds}
    print(json.dumps(total), flush=True)
    return int(total["violations"])


def _played(args: argparse.Namespace, number: int) -> dict[str, Any]:
    """What a process says at its end. Raises ``RuntimeError`` where it says nothing."""
    bounds = ["--seed", str(args.seed + number), "--stride", str(args.processes), "--minutes", str(args.minutes)]
    bounds += ["--steps", str(args.steps / args.processes), *(["--first"] if args.first else [])]
    command = [sys.executable, "-m", "simulation", "--set", json.dumps(args.set), "run", *bounds]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if not line.startswith("{"):
                print(line, end="", flush=True)
            last = line
    if not last.startswith("{"):
        raise RuntimeError(f"process {number} ended with {process.returncode}")
    found: dict[str, Any] = json.loads(last)
    return found
