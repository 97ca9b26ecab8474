"""Where Baton answers, and as whom: a flag goes before the environment, and the environment before the file.

The file is ~/.config/baton/config.toml, readable by its owner only:

    default = "local"

    [profiles.local]
    url = "https://baton.example.com"
    token = "baton_…"
    agent = "qa"       # optional: the agent that this token is for

Other keys and tables are other programs'.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from baton_client.errors import Misused
from baton_client.folders import HAS_MODES, NO_HOME, config_folder

FIELDS = ("url", "token", "agent")
_BLANKS = " \t\r\n\ufeff"  # around a token that a shell or an editor wrote
Saved = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Profile:
    """``name``: empty if everything came from flags and environment."""

    name: str
    url: str
    token: str = field(repr=False)
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ProfilesFile:
    """What the file says."""

    default: str = ""
    profiles: Mapping[str, Saved] = field(default_factory=dict[str, "Saved"], repr=False)


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the file's path. Raises ``Misused`` for a user without a home folder."""
    folder = config_folder(environment)
    if folder is None:
        step = "set BATON_URL and BATON_TOKEN, and no file is needed; or set HOME or XDG_CONFIG_HOME"
        raise Misused("there is no home folder for the file of profiles", NO_HOME, step)
    return folder / "config.toml"


def config_of(path: Path) -> ProfilesFile:
    """Returns the profiles of the file; none if it doesn't exist. Raises ``Misused``."""
    import tomllib  # takes a while to load, and most programs in the cloud have no file

    try:
        found = tomllib.loads(text_of(path))
    except ValueError as exc:  # of the encoding, or of TOML
        raise unreadable(path, exc) from exc
    except OSError as exc:
        raise Misused(f"{path} can't be read", exc.strerror or str(exc)) from exc
    profiles, default = found.get("profiles", {}), found.get("default", "")
    tables = cast("Saved", profiles).values() if isinstance(profiles, dict) else [None]
    if not isinstance(default, str) or not all(isinstance(each, dict) for each in tables):
        raise Misused(f"{path} isn't as Baton writes it", "a profile is a table", f"{_INIT} writes one")
    return ProfilesFile(default, cast("dict[str, Saved]", profiles))


def text_of(path: Path) -> str:
    """Returns the file's text, without a byte order mark; empty if it doesn't exist. Raises ``Misused`` if others can
    read it, ``OSError`` and ``UnicodeDecodeError``."""
    try:
        if HAS_MODES and stat.S_IMODE(path.stat().st_mode) & 0o077:
            step = f"chmod 600 {path}; or set BATON_URL and BATON_TOKEN, and the file isn't needed"
            raise Misused(f"{path} can be read by others", "it holds tokens", step)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""


def unreadable(path: Path, why: Exception) -> Misused:
    return Misused(f"{path} isn't TOML", str(why), f"mend it, or remove it and call: {_INIT}")


_INIT = "baton init"


def profile_from(
    given: Mapping[str, str], environment: Mapping[str, str] = os.environ, path: Path | None = None
) -> Profile:
    """Returns the profile. ``given``: what flags say of url, token, agent and profile. A saved token goes to no other
    address than its own. Raises ``Misused``."""
    name = given.get("profile") or environment.get("BATON_PROFILE") or ""
    said = {each: given.get(each) or environment.get(f"BATON_{each.upper()}") or "" for each in FIELDS}
    said["token"] = said["token"].strip(_BLANKS)
    try:
        config = config_of(path or config_path(environment))
        saved = _saved(config, name or config.default, is_named=bool(name))
    except Misused:
        if name or not (said["url"] and said["token"]):
            raise
        config, saved = ProfilesFile(), dict[str, str]()  # nothing of the file is needed
    found = {each: said[each] or saved.get(each, "") for each in FIELDS}
    profile = Profile(name or (config.default if saved else ""), address(found["url"]), found["token"], found["agent"])
    if saved.get("token") and not (given.get("token") or environment.get("BATON_TOKEN")):
        _must_be_for(profile, saved)
    return profile


def _must_be_for(profile: Profile, saved: Mapping[str, str]) -> None:
    """An address of the environment's may be anybody's: it gets no saved token. Raises ``Misused``."""
    own = address(saved.get("url") or profile.url)
    if own != profile.url:
        what = f"the token of the profile {profile.name} is for {own} alone"
        step = "set BATON_TOKEN too, or save a profile for that address: baton init"
        raise Misused(what, f"{profile.url} was named", step)


def _saved(config: ProfilesFile, name: str, *, is_named: bool) -> Mapping[str, str]:
    """Returns Baton's own fields of the profile. Raises ``Misused``."""
    if name in config.profiles:
        own = {each: value for each, value in config.profiles[name].items() if each in FIELDS}
        if wrong := next((each for each, value in own.items() if not isinstance(value, str)), None):
            raise Misused(f"{wrong} of the profile {name} is no text", "it stands in quotes", f"{_INIT} --name {name}")
        return {each: value.strip(_BLANKS) if each == "token" else value for each, value in own.items()}
    if is_named:
        known = ", ".join(config.profiles) or "none"
        raise Misused(f"there is no profile {name}", f"the file has: {known}", f"{_INIT} --name {name}")
    return {}


def address(text: str) -> str:
    """Returns the API's address without a slash at its end. Raises ``Misused``."""
    url = text.rstrip("/").removesuffix("/mcp")
    if not url:
        next_step = f"{_INIT}, or for the local stack: baton up"
        raise Misused("no address of an API", "neither a flag, BATON_URL nor a profile has one", next_step)
    if not _is_address(url):
        # What stands before an @ may be a password.
        raise Misused(f"{url.rpartition('@')[2]} isn't the address of an API", "it is as https://baton.example.com")
    if is_seen_on_its_way(url):
        what = f"{url} isn't encrypted"
        raise Misused(what, "everybody between here and there could read the token, and answer", "use https://")
    return url


def is_seen_on_its_way(url: str) -> bool:
    """True if what is sent there leaves this machine without encryption."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_here = f".{host}".endswith(".localhost") or host == "::1" or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))
    return parts.scheme == "http" and not is_here


def _is_address(url: str) -> bool:
    """With a host, perhaps a port and a path, and nothing else: a name before the host only misleads its reader."""
    try:
        parts = urlsplit(url)
        is_whole = parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        return False
    return (
        is_whole and parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"[\s\x00-\x1f]", url)
    )


def found(url: str | None, token: str | None, agent: str | None) -> Profile:
    """Returns the profile of a client: an address with a token, alone; or that of a name, or the usual one. Raises
    ``Misused``."""
    if url is None or "://" not in url:
        given = {"profile": url, "token": token, "agent": agent}
        return profile_from({name: value for name, value in given.items() if value})
    if not token:
        raise Misused("no token", f"{address(url)} was named without one", "Baton(url, token), or a profile's name")
    return Profile("", address(url), token.strip(_BLANKS), agent or "")
