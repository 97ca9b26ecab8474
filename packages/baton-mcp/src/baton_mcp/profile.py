"""The profile: Baton's address, a token, and its agent."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Unfit(Exception):
    """The profile can't be used; the message says why, and holds no token."""


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """``agent``: the slug whose news is told; only the channel needs it."""

    url: str
    token: str = field(repr=False)
    agent: str = ""

    @property
    def is_local(self) -> bool:
        """True for a name below ``localhost``, such as that of the local stack: it is this machine (RFC 6761)."""
        parts = urlsplit(self.url)
        return parts.scheme == "http" and (parts.hostname or "").endswith(".localhost")

    @property
    def base_url(self) -> str:
        """Returns where to connect to: not every resolver knows the names below ``localhost``."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=f"127.0.0.1:{parts.port or 80}").geturl() if self.is_local else self.url

    @property
    def headers(self) -> dict[str, str]:
        named = {"Host": urlsplit(self.url).netloc} if self.is_local else {}
        return {"Authorization": f"Bearer {self.token}", **named}


def config_path(environment: Mapping[str, str]) -> Path:
    """The file of the command `baton`: `baton init` and `baton up` write it."""
    home = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "baton" / "config.toml"


def profile_from(name: str | None, environment: Mapping[str, str] = os.environ) -> ServerProfile:
    """Returns the profile: BATON_URL, BATON_TOKEN and BATON_AGENT of the environment go before those of the named
    profile in ~/.config/baton/config.toml, which the command `baton` writes. A saved token goes to no other address
    than its own. Raises ``Unfit``."""
    saved = _saved(name, config_path(environment)) if name else {}
    found = {key: environment.get(f"BATON_{key.upper()}") or saved.get(key, "") for key in ("url", "token", "agent")}
    url = _address(found["url"])
    if not found["token"]:
        raise Unfit("set BATON_TOKEN to the agent's token")
    if not environment.get("BATON_TOKEN") and (own := _address(saved.get("url") or url)) != url:
        raise Unfit(f"the token of {name} is for {own} alone, and BATON_URL isn't: set BATON_TOKEN too")
    return ServerProfile(url, found["token"], found["agent"])


def _address(text: str) -> str:
    url = text.rstrip("/").removesuffix("/mcp")
    if not _is_address(url):
        raise Unfit("set BATON_URL to the API's address, such as https://baton.example.com")
    if is_seen_on_its_way(url):
        raise Unfit(f"{url} isn't encrypted: everybody between here and there could read the token. Use https://")
    return url


def is_seen_on_its_way(url: str) -> bool:
    """True if what is sent there leaves this machine without encryption."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_here = f".{host}".endswith(".localhost") or host == "::1" or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))
    return parts.scheme == "http" and not is_here


def _is_address(url: str) -> bool:
    """With a host, perhaps a port and a path, and nothing else, as for the command `baton`."""
    try:
        parts = urlsplit(url)
        is_whole = parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        return False
    return (
        is_whole and parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"[\s\x00-\x1f]", url)
    )


def _saved(name: str, path: Path) -> dict[str, str]:
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Unfit(f"{path} can be read by others: chmod 600")
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise Unfit(f"there is no {path}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise Unfit(f"{path} isn't TOML") from exc
    except OSError as exc:
        raise Unfit(f"{path} can't be read: {exc.strerror or exc}") from exc
    profiles = found.get("profiles", {})
    if not _is_sound(profiles) or not isinstance(found.get("default", ""), str):
        raise Unfit(f"{path} isn't as Baton writes it: a profile is a table of texts")
    if name not in profiles:
        raise Unfit(f"{path} has no profile [profiles.{name}]")
    saved: dict[str, str] = profiles[name]
    return saved


def _is_sound(profiles: Any) -> bool:
    return isinstance(profiles, dict) and all(
        isinstance(each, dict) and all(isinstance(value, str) for value in each.values()) for each in profiles.values()
    )
