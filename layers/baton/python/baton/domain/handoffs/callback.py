"""The secret address of a callback (docs/spec/lifecycle.md §6). It is derived from the task, the number of its wait and
a key that only the deployment holds: nothing secret is stored, and a repeated request gets the same address."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

_SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Callback:
    """A wait of a task that a callback ends."""

    workspace: str
    task_id: str
    wait: int

    @property
    def _text(self) -> str:
        return _SEPARATOR.join((self.workspace, self.task_id, str(self.wait)))

    def token(self, key: bytes) -> str:
        """Returns ``<name>.<HMAC>``: safe in a URL."""
        name = base64.urlsafe_b64encode(self._text.encode()).decode().rstrip("=")
        return f"{name}{_SEPARATOR}{_seal(self._text, key)}"


def callback_of(token: str, key: bytes) -> Callback | None:
    """The inverse of ``Callback.token``. Returns None for a token that wasn't made with ``key``."""
    name, _, seal = token.partition(_SEPARATOR)
    try:
        text = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
        workspace, task_id, wait = text.split(_SEPARATOR)
        number = int(wait)
    except ValueError:  # from base64, UTF-8 and ``int``
        return None
    if not hmac.compare_digest(seal.encode(), _seal(text, key).encode()):
        return None
    return Callback(workspace, task_id, number)


def _seal(text: str, key: bytes) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
