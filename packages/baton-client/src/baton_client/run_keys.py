"""The keys that sign the saved states of a worker program's runs. They never leave the program.

BATON_RUN_KEY has one or several, with commas: the first signs, each verifies. Without it the program makes a key once,
in the file ``run-key`` beside the profiles."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from baton_client.errors import Misused
from baton_client.folders import HAS_MODES, NO_HOME, config_folder

NAME = "BATON_RUN_KEY"
LEAST_BYTES = 32
_STEP = f"set {NAME} to at least {LEAST_BYTES} random bytes, as hexadecimal or base64: openssl rand -hex 32"
Keys = tuple[bytes, ...]


def keys_from(text: str, where: str) -> Keys:
    """Returns the keys of a text. ``where``: names it in errors. Raises ``Misused``."""
    return tuple(_key(each.strip(), where) for each in text.split(","))


def keys_said(environment: Mapping[str, str] = os.environ) -> Keys:
    """Returns the keys of the environment; none if it has none. Raises ``Misused``."""
    said = environment.get(NAME)
    return keys_from(said, NAME) if said else ()


def keys_kept(path: Path | None = None) -> Keys:
    """Returns the keys of the key file, which is made if it is missing. Raises ``Misused``."""
    try:
        folder = config_folder()
        if path is None and folder is None:
            raise Misused("the key of saved runs can't be read or made", NO_HOME, _STEP)
        at = path or cast("Path", folder) / "run-key"
        if not at.exists():
            _make(at)
        if HAS_MODES and stat.S_IMODE(at.stat().st_mode) & 0o077:
            raise Misused(f"{at} can be read by others", "the file has the key of saved runs", f"chmod 600 {at}")
        text = at.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as exc:  # a folder that can't be written, other bytes
        raise Misused("the key of saved runs can't be read or made", str(exc), _STEP) from exc
    return keys_from(text, str(at))


def signature(key: bytes, task_id: str, agent: str, fence: int, state: str) -> str:
    """Returns the HMAC-SHA256 of a state that was saved under this claim."""
    signed = json.dumps(["baton.run/2", task_id, agent, fence, state])
    return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()


def is_signed(keys: Keys, found: str, task_id: str, agent: str, fence: int, state: str) -> bool:
    made = (signature(key, task_id, agent, fence, state) for key in keys)
    return any(hmac.compare_digest(each.encode(), found.encode()) for each in made)


def _key(text: str, where: str) -> bytes:
    try:
        if re.fullmatch(r"[0-9a-fA-F]+", text):
            key = bytes.fromhex(text)
        else:
            padded = text.translate({ord("-"): "+", ord("_"): "/"}).rstrip("=")
            key = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < LEAST_BYTES:
        raise Misused(f"{where} has no key", f"a key is at least {LEAST_BYTES} bytes, as hexadecimal or base64", _STEP)
    return key


def _make(path: Path) -> None:
    """Makes the file whole or not at all; of two programs at once the first makes it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(LEAST_BYTES) + "\n")
    try:
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        made.unlink()
