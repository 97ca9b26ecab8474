"""Where Baton answers, and as whom."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

# The file of the command `baton`: `baton init` and `baton up` write it.
PROFILES = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "baton", "config.toml")


class Unfit(Exception):
    """The profile can't be used; the message says why, and holds no token."""


@dataclass(frozen=True, slots=True)
class Profile:
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


def profile_from(name: str | None, environment: Mapping[str, str] | None = None) -> Profile:
    """Returns the profile: BATON_URL, BATON_TOKEN and BATON_AGENT of the environment go before those of the named
    profile in ~/.config/baton/config.toml, which the command `baton` writes. A saved token goes to no other address
    than its own. Raises ``Unfit``."""
    given = os.environ if environment is None else environment
    saved = _saved(name) if name else {}
    found = {key: given.get(f"BATON_{key.upper()}") or saved.get(key, "") for key in ("url", "token", "agent")}
    url = _address(found["url"])
    if urlsplit(url).scheme not in {"http", "https"}:
        raise Unfit("set BATON_URL to the API's address, such as https://baton.example.com")
    if not found["token"]:
        raise Unfit("set BATON_TOKEN to the agent's token")
    if not given.get("BATON_TOKEN") and saved.get("url") and _address(saved["url"]) != url:
        raise Unfit(
            f"the token of {name} is for {_address(saved['url'])} alone, and BATON_URL isn't: set BATON_TOKEN too"
        )
    return Profile(url, found["token"], found["agent"])


def _address(url: str) -> str:
    return url.rstrip("/").removesuffix("/mcp")


def _saved(name: str) -> dict[str, str]:
    path = PROFILES.expanduser()
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Unfit(f"{PROFILES} can be read by others: chmod 600")
        profiles = tomllib.loads(path.read_text(encoding="utf-8")).get("profiles")
    except FileNotFoundError as exc:
        raise Unfit(f"there is no {PROFILES}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise Unfit(f"{PROFILES} isn't TOML") from exc
    if not isinstance(profiles, dict) or not isinstance(profiles.get(name), dict):
        raise Unfit(f"{PROFILES} has no profile [profiles.{name}]")
    return {key: str(value) for key, value in profiles[name].items()}
