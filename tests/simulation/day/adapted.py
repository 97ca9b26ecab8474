"""A framework's process: it works off so many tasks, one after the other. ``python -m simulation.day.adapted NAME
TASKS``, in the framework's environment."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import traceback


def main(name: str, tasks: str) -> int:
    serve_one = importlib.import_module(f"frameworks.scenes.{name}").SCENES["serve_one"]
    failed = 0
    for _ in range(int(tasks)):
        try:
            if inspect.iscoroutine(found := serve_one()):
                asyncio.run(found)
        except Exception:  # noqa: BLE001 - the oracle looks for the task's output; the others are done, too
            traceback.print_exc()
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
