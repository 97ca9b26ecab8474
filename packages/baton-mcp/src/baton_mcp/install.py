"""Names Baton in a client's configuration. The token stays in the environment: no file gets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baton_mcp.profile import Profile, Unfit

NAME = "baton"
PROGRAM = "baton-mcp"
CODEX = Path(".codex/config.toml")


def claude(url: str, *, program: bool, channel: bool) -> dict[str, Any]:
    """Claude Code puts variables of the environment in the place of ``${…}``."""
    if not program:
        return {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": "Bearer ${BATON_TOKEN}"}}
    kept = {"BATON_URL": url, "BATON_TOKEN": "${BATON_TOKEN}"} | ({"BATON_AGENT": "${BATON_AGENT}"} if channel else {})
    return {"type": "stdio", "command": PROGRAM, "args": ["serve", *(["--channel"] if channel else [])], "env": kept}


def with_env(url: str, *, program: bool, channel: bool) -> dict[str, Any]:
    """As Cursor and VS Code spell variables."""
    if channel:
        raise Unfit("only Claude Code takes a channel")
    if not program:
        return {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": "Bearer ${env:BATON_TOKEN}"}}
    kept = {"BATON_URL": url, "BATON_TOKEN": "${env:BATON_TOKEN}"}
    return {"type": "stdio", "command": PROGRAM, "args": ["serve"], "env": kept}


# The client → its file below the project, the key of its servers, and how it names one.
PROJECTS: dict[str, tuple[str, str, Callable[..., dict[str, Any]]]] = {
    "claude": (".mcp.json", "mcpServers", claude),
    "cursor": (".cursor/mcp.json", "mcpServers", with_env),
    "vscode": (".vscode/mcp.json", "servers", with_env),
}
CLIENTS = (*PROJECTS, "codex")


def install(client: str, profile: Profile, folder: Path, home: Path, *, channel: bool = False) -> Path:
    """Writes the client's configuration, and returns the file: in the project's ``folder``, or for Codex in ``home``.
    Other servers in it stay. It names the door, or this program for a channel and for an address below ``localhost``,
    which few clients find. Raises ``Unfit`` for a file that can't be read."""
    program = channel or profile.is_local
    if client == "codex":
        if channel:
            raise Unfit("only Claude Code takes a channel")
        return _codex(_codex_entry(profile.url, program=program), home / CODEX)
    name, key, entry = PROJECTS[client]
    return _json(folder / name, key, entry(profile.url, program=program, channel=channel))


def _json(path: Path, key: str, entry: dict[str, Any]) -> Path:
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known.setdefault(key, {})[NAME] = entry
    except (ValueError, AttributeError, TypeError) as exc:
        wanted = json.dumps({key: {NAME: entry}})
        raise Unfit(f"{path} isn't plain JSON of {key}: it stays as it is. Put this there: {wanted}") from exc
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _codex_entry(url: str, *, program: bool) -> str:
    """Codex gives a program those variables that are named."""
    if not program:
        return f'url = {json.dumps(f"{url}/mcp")}\nbearer_token_env_var = "BATON_TOKEN"\n'
    kept = f'env = {{ BATON_URL = {json.dumps(url)} }}\nenv_vars = ["BATON_TOKEN"]\n'
    return f'command = "{PROGRAM}"\nargs = ["serve"]\n{kept}'


def _codex(entry: str, path: Path) -> Path:
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    header = f"[mcp_servers.{NAME}]"
    if header in known:
        raise Unfit(f"{path} has {header} already: it stays as it is")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{known.rstrip()}\n\n{header}\n{entry}".lstrip(), encoding="utf-8")
    return path
