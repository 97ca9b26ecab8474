"""Baton in a deterministic simulator: every schedule comes from a seed.

python -m simulation run [--seed N] [--minutes M] [--steps S] [--processes P]
                                                                seed after seed; says what was violated
python -m simulation replay SEED [--trace WORD]                 the same again, with what happened
python -m simulation shrink SEED                                the dullest schedule that breaks the same rule
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
import warnings
from collections import Counter
from typing import TYPE_CHECKING

from simulation.episode import play
from simulation.several import run_several
from simulation.shrinking import shrunk

if TYPE_CHECKING:
    from simulation.simulation import Simulation


def run(args: argparse.Namespace) -> int:
    """As many seeds as there is time for. Answers with how many violations were found."""
    began, seed, steps, found, episodes, trust_steps = time.monotonic(), args.seed, 0, 0, 0, 0
    seen: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    while steps < args.steps and time.monotonic() - began < args.minutes * 60 and not (found and args.first):
        sim = play(seed, args.set)
        steps += sim.steps
        trust_steps += sim.steps if sim.habits.has_trust else 0
        seen += sim.oracle.ledger.seen
        faults += sim.fault_source.faults
        if violations := sim.oracle.verdict.violations:
            found += 1
            print(f"seed {seed} step {violations[0].step}: {violations[0].what}\n{violations[0].where}")
            print(f"Again, with what happened: make simulate REPLAY={seed}", flush=True)
        sim.scheduler.let_go()
        seed, episodes = seed + args.stride, episodes + 1
    spent = time.monotonic() - began
    told = {
        "seeds": [args.seed, seed - args.stride],
        "episodes": episodes,
        "steps": steps,
        "trust_steps": trust_steps,
        "seconds": round(spent, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "faults": dict(sorted(faults.items())),
        "seen": dict(sorted(seen.items())),
        "violations": found,
    }
    print(json.dumps(told), flush=True)
    return found


def show(sim: Simulation, word: str) -> int:
    for line in sim.fault_source.trace or []:
        if word in line:
            print(line)
    print(
        f"{sim.habits}\ndigest {sim.fault_source.digest:08x}, {sim.steps} steps, faults {dict(sim.fault_source.faults)}"
    )
    for violation in sim.oracle.verdict.violations:
        print(f"step {violation.step}: {violation.what}\n{violation.where}")
    return len(sim.oracle.verdict.violations)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=json.loads, default={}, help='habits instead of the seed\'s: {"focus": "waits"}')
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--seed", type=int, default=1)
    runs.add_argument("--minutes", type=float, default=float("inf"))
    runs.add_argument("--steps", type=float, default=float("inf"))
    runs.add_argument("--stride", type=int, default=1, help="only every so-manieth seed")
    runs.add_argument("--processes", type=int, default=1, help="that play at once")
    runs.add_argument("--first", action="store_true", help="stop at the first violation")
    for name in ("replay", "shrink"):
        command = commands.add_parser(name)
        command.add_argument("which", type=int, metavar="SEED")
        command.add_argument("--trace", default="", metavar="WORD", help="only the lines that have it")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.set_threshold(100_000, 20, 20)  # an episode lives in a few megabytes
    gc.freeze()  # and what is there already stays
    if args.command == "run":
        return min(run_several(args) if args.processes > 1 else run(args), 1)
    play_it = shrunk if args.command == "shrink" else play
    sim = play_it(args.which, args.set, is_traced=True) if play_it is play else shrunk(args.which, args.set)
    return min(show(sim, args.trace), 1)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets are gone through in the order of hashes
        os.execve(
            sys.executable, [sys.executable, "-m", "simulation", *sys.argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    sys.exit(main())
