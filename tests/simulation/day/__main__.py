"""A simulated day through a faulty network.

python -m simulation.day [--seed N] [--tasks N] [--faults N] [--environments FOLDER [--adapted N]]

``--faults``: so many times as many faults as the day has. ``--environments``: the folder that has an environment per
framework; each framework then does ``--adapted`` tasks.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from unittest import mock

from simulation.day import adapters
from simulation.day.day import ENVIRONMENT, play
from support.worlds.faulty_server import Shares

MOST_SHOWN = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--faults", type=float, default=1.0)
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--adapted", type=int, default=250)
    asked = parser.parse_args()
    began, shares = time.monotonic(), Shares().times(asked.faults)
    report = play(asked.seed, asked.tasks, shares)
    wrong, faults_of_adapters = report.wrong, Counter[str]()
    if asked.environments is not None:
        with mock.patch.dict(os.environ, ENVIRONMENT):
            found, faults_of_adapters = adapters.played(asked.environments.resolve(), asked.seed, asked.adapted, shares)
        wrong += found
    told = {
        "seed": asked.seed,
        "tasks": asked.tasks,
        "virtual_seconds": round(report.seconds),
        "requests": report.requests,
        "faults": dict(sorted(report.faults.items())),
        "claims_of_late_requests": report.late_claims,
        "trouble": report.trouble,
        "faults_of_adapters": dict(sorted(faults_of_adapters.items())),
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "wrong": len(wrong),
    }
    for each in wrong[:MOST_SHOWN]:
        print(each)
    print(f"report: {json.dumps(told, indent=1)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
