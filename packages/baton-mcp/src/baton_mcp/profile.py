"""The profile: Baton's address, a token, and its agent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from baton_client import profiles as saved
from baton_client.errors import Misused
from baton_client.profiles import config_path


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


def profile_from(name: str | None, environment: Mapping[str, str] = os.environ) -> ServerProfile:
    """Returns the profile: BATON_URL, BATON_TOKEN and BATON_AGENT of the environment go before those of the named
    profile in ~/.config/baton/config.toml, which the command `baton` writes. Without a name no file is read. Raises
    ``Unfit``."""
    try:
        found = _named(name, environment) if name else _said(environment)
    except Misused as exc:
        raise Unfit("; ".join(filter(None, [exc.what, exc.why, exc.next_step]))) from exc
    if not found.token:
        raise Unfit("set BATON_TOKEN to the agent's token")
    return found


def _named(name: str, environment: Mapping[str, str]) -> ServerProfile:
    path = config_path(environment)
    if not path.exists():
        raise Unfit(f"there is no {path}")
    found = saved.profile_from({"profile": name}, environment, path)
    return ServerProfile(found.url, found.token, found.agent)


def _said(environment: Mapping[str, str]) -> ServerProfile:
    url, token, agent = (environment.get(each, "").strip() for each in ("BATON_URL", "BATON_TOKEN", "BATON_AGENT"))
    try:
        return ServerProfile(saved.address(url), token, agent)
    except Misused as exc:
        raise Unfit(f"set BATON_URL to the API's address, such as https://baton.example.com: {exc}") from exc
