"""Where Baton answers, and as whom: a flag goes before the environment, and the environment before the file.

The file is ~/.config/baton/config.toml, readable by its owner only:

    default = "local"

    [profiles.local]
    url = "https://baton.example.com"
    token = "baton_…"
    agent = "qa"       # optional: the agent that this token is for
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

FIELDS = ("url", "token", "agent")
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
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]], repr=False)


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    home = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "baton" / "config.toml"


def config_of(path: Path) -> ProfilesFile:
    """Returns what the file says; an empty one if there is none. Raises ``Misused``."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Misused(f"{path} can be read by others", "it holds tokens", f"chmod 600 {path}")
        text = path.read_text(encoding="utf-8")
        import tomllib  # takes a while to load, and most programs in the cloud have no file

        found = tomllib.loads(text)
    except FileNotFoundError:
        return ProfilesFile()
    except ValueError as exc:  # of the encoding, or of TOML
        raise Misused(f"{path} isn't TOML", str(exc), f"mend it, or remove it and call: {_INIT}") from exc
    except OSError as exc:
        raise Misused(f"{path} can't be read", exc.strerror or str(exc)) from exc
    return _checked(found, path)


_INIT = "baton init"


def _checked(found: dict[str, Any], path: Path) -> ProfilesFile:
    profiles: Any = found.get("profiles", {})
    is_sound = isinstance(profiles, dict) and all(
        isinstance(each, dict) and all(isinstance(value, str) for value in cast("Saved", each).values())
        for each in cast("dict[str, Any]", profiles).values()
    )
    if not is_sound or not isinstance(found.get("default", ""), str):
        raise Misused(f"{path} isn't as Baton writes it", "a profile is a table of texts", f"{_INIT} writes one")
    return ProfilesFile(found.get("default", ""), cast("dict[str, dict[str, str]]", profiles))


def profile_from(
    given: Mapping[str, str], environment: Mapping[str, str] = os.environ, path: Path | None = None
) -> Profile:
    """Returns the profile. ``given``: what flags say of url, token, agent and profile. A saved token goes to no other
    address than its own. Raises ``Misused``."""
    config = config_of(path or config_path(environment))
    name = given.get("profile") or environment.get("BATON_PROFILE") or ""
    saved = _saved(config, name or config.default, is_named=bool(name))
    found = {
        each: given.get(each) or environment.get(f"BATON_{each.upper()}") or saved.get(each, "") for each in FIELDS
    }
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
    if name in config.profiles:
        return config.profiles[name]
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


def save(name: str, profile: Profile, path: Path, *, is_default: bool) -> None:
    """Writes the profile into the file, whole or not at all; the others stay."""
    config = config_of(path)
    kept = {each: value for each in FIELDS if (value := getattr(profile, each))}
    default = name if is_default or not config.default else config.default
    _write(ProfilesFile(default, {**config.profiles, name: kept}), path)


def forget(name: str, path: Path) -> None:
    """Takes the profile out of the file."""
    config = config_of(path)
    left = {each: values for each, values in config.profiles.items() if each != name}
    _write(ProfilesFile("" if config.default == name else config.default, left), path)


def _write(config: ProfilesFile, path: Path) -> None:
    lines = [f"default = {_quoted(config.default)}"]
    for name, values in config.profiles.items():
        lines += ["", f"[profiles.{_quoted(name)}]", *(f"{key} = {_quoted(value)}" for key, value in values.items())]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f"{path.name}.{os.getpid()}")
    # Readable by its owner only from its first byte on; the rename makes it appear whole.
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    made.replace(path)


def _quoted(text: str) -> str:
    """As TOML writes a text, which is as JSON does but for DEL."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def found(url: str | None, token: str | None, agent: str | None) -> Profile:
    """Returns the profile of a client: an address with a token, alone; or that of a name, or the usual one. Raises
    ``Misused``."""
    if url is None or "://" not in url:
        given = {"profile": url, "token": token, "agent": agent}
        return profile_from({name: value for name, value in given.items() if value})
    if not token:
        raise Misused("no token", f"{address(url)} was named without one", "Baton(url, token), or a profile's name")
    return Profile("", address(url), token, agent or "")
