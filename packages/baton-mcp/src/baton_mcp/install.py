"""Names Baton in a client's configuration. The token stays in the environment: no file gets it."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baton_client import numbers
from baton_client.folders import NO_HOME
from baton_client.whole_files import write_whole
from baton_mcp.profile import ServerProfile, Unfit

NAME = "baton"
PROGRAM = "baton-mcp"
CODEX = Path(".codex/config.toml")


@dataclass(frozen=True, slots=True)
class Start:
    """How a client starts or reaches Baton. ``saved``: the name of the profile that the program reads itself, so that
    the user exports nothing."""

    profile: ServerProfile
    saved: str | None = None
    channel: bool = False

    @property
    def is_program(self) -> bool:
        """True if the client starts this program: for a channel, for a saved profile, and for an address below
        ``localhost``, which few clients resolve. Otherwise the client gets the door's address."""
        return bool(self.channel or self.saved or self.profile.is_local)

    @property
    def url(self) -> str:
        return self.profile.url

    @property
    def arguments(self) -> list[str]:
        named = ["--profile", self.saved] if self.saved else []
        return ["serve", *named, *(["--channel"] if self.channel else [])]

    def entry(self, variable: str) -> dict[str, Any]:
        """Returns the entry of a JSON file. ``variable``: how the client spells a variable of the environment."""
        kept = {"BATON_URL": self.url, "BATON_TOKEN": variable.format("BATON_TOKEN")}
        agent = {"BATON_AGENT": variable.format("BATON_AGENT")} if self.channel else {}
        env = {} if self.saved else {"env": kept | agent}
        return {"type": "stdio", "command": command(), "args": self.arguments, **env}


def command() -> str:
    """Returns this program's whole path, as a client has another PATH than the shell that installed it."""
    found = shutil.which(PROGRAM, path=str(Path(sys.executable).parent)) or shutil.which(PROGRAM)
    if found is None:
        raise Unfit(f"{PROGRAM} is on no PATH: install it from a checkout with make install")
    return str(Path(found).absolute())


# The client → its file below the project, the key of its servers, and how it spells a variable of the environment.
PROJECTS: dict[str, tuple[str, str, str]] = {
    "claude": (".mcp.json", "mcpServers", "${{{}}}"),
    "cursor": (".cursor/mcp.json", "mcpServers", "${{env:{}}}"),
    "vscode": (".vscode/mcp.json", "servers", "${{env:{}}}"),
}
CLIENTS = (*PROJECTS, "codex")


def install(client: str, start: Start, folder: Path, home: Path | None = None) -> Path:
    """Writes the client's configuration, and returns the file: in the project's ``folder``, or for Codex in ``home``,
    the user's home folder. Other servers in it stay. Raises ``Unfit`` for a file that can't be read or written."""
    if start.channel and client != "claude":
        raise Unfit("only Claude Code takes a channel")
    if client == "codex":
        return _codex(_codex_entry(start), (home or _home()) / CODEX)
    name, key, variable = PROJECTS[client]
    entry = start.entry(variable) if start.is_program else _door(start.url, variable.format("BATON_TOKEN"))
    return _json(folder / name, key, entry)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as exc:
        raise Unfit(f"there is no home folder for {CODEX}: {NO_HOME}. Set HOME") from exc


def _door(url: str, token: str) -> dict[str, Any]:
    return {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {token}"}}


def _json(path: Path, key: str, entry: dict[str, Any]) -> Path:
    try:
        known = numbers.loads(_text(path) or "{}")
        known.setdefault(key, {})[NAME] = entry
    except (ValueError, AttributeError, TypeError) as exc:
        wanted = json.dumps({key: {NAME: entry}})
        raise Unfit(f"{path} isn't plain JSON of {key}: it stays as it is. Put this there: {wanted}") from exc
    return _written(path, numbers.dumps(known, indent=2, ensure_ascii=False) + "\n")


def _text(path: Path) -> str:
    """Returns the file's text, without a byte order mark; empty if it doesn't exist. Raises ``Unfit``."""
    try:
        return path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as exc:
        raise Unfit(f"{path} can't be read: {exc}. It stays as it is") from exc


def _written(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as exc:
        raise Unfit(f"{path} can't be written: {exc.strerror or exc}. It stays as it is") from exc
    return path


def _codex_entry(start: Start) -> str:
    """Returns the entry for Codex, which passes on only the variables that are named."""
    if not start.is_program:
        return f'url = {json.dumps(f"{start.url}/mcp")}\nbearer_token_env_var = "BATON_TOKEN"\n'
    kept = f'env = {{ BATON_URL = {json.dumps(start.url)} }}\nenv_vars = ["BATON_TOKEN"]\n'
    said = f"command = {json.dumps(command())}\nargs = {json.dumps(start.arguments)}\n"
    return said if start.saved else said + kept


def _codex(entry: str, path: Path) -> Path:
    known = _text(path)
    header = f"[mcp_servers.{NAME}]"
    if header in known:
        raise Unfit(f"{path} has {header} already: it stays as it is")
    return _written(path, f"{known.rstrip()}\n\n{header}\n{entry}".lstrip())
