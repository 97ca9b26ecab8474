"""The file of ``baton worker --routes``: which program does which agent's work on this machine.

[agents.qa]
command = ["./qa.sh", "--strict"]
directory = "/srv/qa"      # where it runs; by default the file's folder
concurrency = 2
time_limit = "30m"
profile = "qa"             # whose token is used, by default the command's own
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from baton_cli.worker.agent_work import AgentWork
from baton_client.errors import Misused
from baton_client.profiles import Profile

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MIN_LEASE_SECONDS, MAX_LEASE_SECONDS = 15, 43_200
MAX_CONCURRENCY = 64
MAX_MEMORIES = 5
_KINDS: dict[str, type | tuple[type, ...]] = {
    "command": list,
    "directory": str,
    "concurrency": int,
    "lease": (int, str),
    "time_limit": (int, str),
    "grace": (int, str),
    "text": bool,
    "lend_token": bool,
    "profile": str,
    "memories": int,
}


def works_of(path: Path, usual: AgentWork, profile: Callable[[str], Profile]) -> list[AgentWork]:
    """Returns the work of each agent. ``usual``: what holds where the file says nothing. ``profile``: finds one by its
    name. Raises ``Misused``."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise Misused(f"{path} can't be read", exc.strerror or str(exc)) from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise Misused(f"{path} isn't TOML", str(exc)) from exc
    agents = found.get("agents")
    if found.keys() != {"agents"} or not isinstance(agents, dict) or not agents:
        raise Misused(f"{path} has no agents", "each is a table [agents.SLUG] with a command", _GUIDE)
    return [_work(path, slug, said, usual, profile) for slug, said in agents.items()]


_GUIDE = "docs/guides/run-a-worker.md shows a file"


def _work(path: Path, slug: str, said: Any, usual: AgentWork, profile: Callable[[str], Profile]) -> AgentWork:
    where = f"{path}: [agents.{slug}]"
    if not _SLUG.fullmatch(slug) or not isinstance(said, dict):
        raise Misused(f"{where} isn't an agent", "its name is the agent's slug", _GUIDE)
    for name, value in said.items():
        kind = _KINDS.get(name)
        if kind is None or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise Misused(f"{where}: {name} = {value!r}", f"there are: {', '.join(_KINDS)}", _GUIDE)
    command = said.get("command", [])
    if not command or not all(isinstance(each, str) and each for each in command):
        raise Misused(f"{where} has no command", 'it is a list of texts, as ["./run.sh"]', _GUIDE)
    work = replace(
        usual,
        agent=slug,
        command=tuple(command),
        profile=profile(said["profile"]) if "profile" in said else usual.profile,
        directory=path.parent / Path(said.get("directory", ".")).expanduser(),
        concurrency=said.get("concurrency", usual.concurrency),
        memories=said.get("memories", usual.memories),
        is_text=said.get("text", usual.is_text),
        lends_token=said.get("lend_token", usual.lends_token),
        lease_seconds=int(seconds(said["lease"])) if "lease" in said else usual.lease_seconds,
        time_limit_seconds=seconds(said["time_limit"]) or None if "time_limit" in said else usual.time_limit_seconds,
        grace_seconds=seconds(said["grace"]) if "grace" in said else usual.grace_seconds,
    )
    return checked(work)


def seconds(said: int | str) -> float:
    """Returns the seconds of a length as people type it: ``90``, ``90s``, ``30m``, ``2h``, ``1d``. Raises
    ``Misused``."""
    found = re.fullmatch(r"(\d{1,7})([smhd]?)", str(said))
    if not found:
        raise Misused(f"{said} is no length of time", "it is as 90, 30m or 2h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def checked(work: AgentWork) -> AgentWork:
    """Returns the work if its numbers are allowed and its program is there. Raises ``Misused``."""
    if not MIN_LEASE_SECONDS <= work.lease_seconds <= MAX_LEASE_SECONDS:
        raise Misused(f"a lease of {work.lease_seconds} s", f"it is {MIN_LEASE_SECONDS} to {MAX_LEASE_SECONDS} s")
    if not 1 <= work.concurrency <= MAX_CONCURRENCY:
        raise Misused(f"a concurrency of {work.concurrency}", f"it is 1 to {MAX_CONCURRENCY}")
    if not 0 <= work.memories <= MAX_MEMORIES:
        raise Misused(f"{work.memories} memories", f"it is 0 to {MAX_MEMORIES}")
    program = work.command[0]
    # Path drops a "./", and the program would be looked for in PATH.
    place = os.path.join(work.directory or "", program)  # noqa: PTH118
    if shutil.which(place if "/" in program else program) is None:
        raise Misused(
            f"{program} can't be run", "there is no such program, or it isn't executable", f"chmod +x {program}"
        )
    return work
