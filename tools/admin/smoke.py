"""Does a deployment do what it promises? Asked through its API alone, in about a minute: `make smoke API=… TOKEN=…`.

    API     the output ApiUrl of the stack
    TOKEN   a human's, of a workspace made for this: baton_admin.py bootstrap --workspace smoke --human you
    SLOW=1  also waits for the sweeper, about a minute more
    SHORT=1 a canary for a scheduler, some seconds: two tasks, no tokens, agents that stay for the next run

Each check makes what it needs, under agents and tokens of this run, and all are ended, switched off and revoked at the
end, also after a failure or Ctrl-C. Tokens end by themselves after an hour. Exit status: 0 all hold, 1 something
doesn't, 2 it couldn't begin.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from typing import Any

from tools.admin.smoke_checks import ALL, CANARY, SLOW, Check
from tools.admin.smoke_world import SHORT, Caller, Failed, Unfit, World, as_documented, connected

HOLDS, FAILED, UNFIT, INTERRUPTED = 0, 1, 2, 130
UNSEEN = "Not seen from here, as it takes AWS credentials: events on the bus, alarms, logs, backups; and Notion."


def smoke(world: World, checks: list[Check]) -> int:
    """Runs the checks and cleans up. Returns the exit status."""
    begun, failed, status = time.monotonic(), 0, FAILED
    try:
        _prepare(world)
        failed = sum(not _holds(check, world) for check in checks)
        status = FAILED if failed else HOLDS
    except KeyboardInterrupt:
        print("\nstopped; cleaning up", flush=True)
        status = INTERRUPTED
    except Failed as error:
        print(f"FAIL  this run's agents and tokens can't be made\n      {error}", flush=True)
        failed = 1
    is_clean = _is_cleaned(world)
    print(UNSEEN)
    took = f"in {time.monotonic() - begun:.0f} s"
    if status == INTERRUPTED:
        return INTERRUPTED
    if failed or not is_clean:
        print(f"FAILED: {failed} of {len(checks)} checks, {took}{'' if is_clean else '; not all was cleaned up'}.")
        return FAILED
    print(f"All {len(checks)} checks hold, {took}.")
    return status


def _prepare(world: World) -> None:
    begun = time.monotonic()
    with as_documented():
        world.prepare()
    print(f"      {time.monotonic() - begun:5.1f} s  agents and tokens of this run are made", flush=True)


def _holds(check: Check, world: World) -> bool:
    begun = time.monotonic()
    try:
        with as_documented():
            check.run(world)
    except Failed as error:
        print(f"FAIL  {time.monotonic() - begun:5.1f} s  {check.what}")
        print(f"      {error}\n      look at {check.look}", flush=True)
        return False
    print(f"ok    {time.monotonic() - begun:5.1f} s  {check.what}", flush=True)
    return True


def _is_cleaned(world: World) -> bool:
    try:
        with as_documented():
            print(f"left behind: {world.clean()}", flush=True)
    except (Failed, KeyboardInterrupt) as error:
        what = str(error) or "stopped"
        print(f"FAIL  cleaning up: {what}\n      what is left is named smoke-{world.run}-…; tokens end within the hour")
        return False
    return True


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def main() -> int:
    api, token = os.environ.get("API", ""), os.environ.get("TOKEN", "")
    if not api or not token:
        print("make smoke API=<the output ApiUrl> TOKEN=<a human's token>", file=sys.stderr)
        return UNFIT
    signal.signal(signal.SIGTERM, _interrupt)
    is_short = bool(os.environ.get("SHORT"))
    checks = CANARY if is_short else [*ALL, *(SLOW if os.environ.get("SLOW") else [])]
    try:
        with connected(api) as http:
            world = World(Caller(http), Caller(http, token), SHORT if is_short else secrets.token_hex(3))
            with as_documented():
                world.admit()
            print(f"{api}, run {world.run}", flush=True)
            return smoke(world, checks)
    except (Unfit, Failed) as error:
        print(f"smoke: {error}", file=sys.stderr)
        return UNFIT


if __name__ == "__main__":
    sys.exit(main())
