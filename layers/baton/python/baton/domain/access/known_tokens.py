"""The tokens that a process has admitted lately. They say who is probably calling, and so what to read first; the
token's present item decides (docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from baton.domain.access.token import Token

# The most tokens that a process keeps. Beyond it the least recently used goes, and costs its next request one call.
MAX_KNOWN = 1_000


class KnownTokens:
    """Tokens by their id. Requests of several threads may share it."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, Token] = OrderedDict()
        self._lock = Lock()

    def get(self, token_id: str) -> Token | None:
        with self._lock:
            token = self._tokens.get(token_id)
            if token is not None:
                self._tokens.move_to_end(token_id)
            return token

    def keep(self, token: Token) -> None:
        with self._lock:
            self._tokens[token.id] = token
            self._tokens.move_to_end(token.id)
            while len(self._tokens) > MAX_KNOWN:
                self._tokens.popitem(last=False)

    def forget(self, token_id: str) -> None:
        with self._lock:
            self._tokens.pop(token_id, None)
