"""The store of settings and tokens, and of what callers use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from baton.domain.access.principal import Principal
from baton.domain.access.saved_view import ViewList
from baton.domain.access.session import OpenSessions, SessionCode
from baton.domain.access.token import Credentials, Token
from baton.domain.idempotency import IdempotencyKey
from baton.domain.settings.settings import Settings
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.paging import Page


class SettingsStore(Protocol):
    def of(self, workspace: str) -> Settings:
        """Returns the settings; the defaults, at version 0, if none were saved."""

    def save_settings(
        self, workspace: str, settings: Settings, by: Principal, at: datetime, circuit: TrackerCircuit | None = None
    ) -> None:
        """Saves the settings in their next version, and in the same write the ``circuit`` of a tracker that they switch
        on: otherwise a process that still sees no tracker could clear the wake-up, and nothing would set it again.
        Raises ``Conflict`` if either version isn't the next."""


class ViewStore(Protocol):
    """Views that people save. An owner is a principal's key; None is the workspace."""

    def lists(self, workspace: str, owners: Sequence[str | None]) -> list[ViewList]:
        """Returns each owner's list, in their order; an empty one at version 0 if nothing was saved. One read."""

    def save(self, workspace: str, owner: str | None, views: ViewList) -> None:
        """Saves the list. Raises ``Conflict`` if its version isn't the next."""


@dataclass(frozen=True, slots=True)
class PollPermit:
    """A principal's permit for one long poll."""

    workspace: str
    by: str  # the principal's key
    slot: int
    id: str  # the holder: the slot may have been given to another poll since


class UseStore(Protocol):
    """A principal's usage across all processes: requests per minute, and long polls at the same time."""

    def count_use(self, by: Principal, minute: int, requests: int, size: int) -> tuple[int, int]:
        """Adds requests and bytes to the principal's count of a minute (numbered since 1970), and returns both counts.
        At most one write, tried once. May raise any error of a store, and may have counted all the same. The count is
        deleted some time after the minute."""

    def begin_poll(self, by: Principal, most: int, permit_id: str, now: datetime, until: datetime) -> PollPermit:
        """Returns one of the principal's ``most`` permits, held until ``until`` or ``end_poll``: never more of them at
        once. One write, or a few if other polls of the principal wait. Raises ``TooManyPolls`` with the time when the
        first permit becomes free."""

    def end_poll(self, permit: PollPermit) -> None:
        """Frees the permit. Does nothing if another poll holds the slot by now. One write, tried once."""

    def enter_room(self, function: str, now: datetime) -> int:
        """Counts one more poll in the function, for at least 30 seconds or until ``leave_room``, and returns how many
        are counted with it. One whose process dies is counted for at most a minute, and so is an attempt that was
        repeated. One write and one read."""

    def leave_room(self, function: str, entered_at: datetime) -> None:
        """Counts one poll less. One write, tried once."""


class TokenStore(Protocol):
    def token(self, token_id: str) -> Token | None:
        """Returns the token, found by its id alone: the caller's workspace isn't known before. A session is revoked
        if its token is, and unknown if its token is gone."""

    def present_token(self, shown: Credentials, now: datetime) -> Token | None:
        """Returns the token that is shown, like ``token``. If this process has read it since anything of its workspace
        was changed, that is one small read, of the version that every revocation raises. Else the token is read. A
        wrong secret changes nothing in what the process keeps, and costs what an unknown id does."""

    def tokens_of(self, ids: Sequence[str]) -> dict[str, Token]:
        """Returns those of at most 50 tokens that there are, each as ``token`` returns it. At most two calls."""

    def add_token(self, token: Token, idempotency_key: IdempotencyKey | None = None) -> None:
        """Saves a new token. Raises ``KeyTaken``."""

    def save_revocation(self, token: Token) -> None:
        """Saves ``revoked_at`` and ``revoked_by``. The first revocation stands."""

    def listed(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns the workspace's tokens, newest first, sessions among them as ``token`` returns them. None has a
        digest."""

    def first_made_at(self, workspace: str) -> datetime | None:
        """Returns when the workspace's oldest token was made; None without one. One small read."""


class SessionStore(Protocol):
    """Sessions are tokens: ``TokenStore`` reads, lists and revokes them."""

    def open_sessions(self, workspace: str, token_id: str) -> OpenSessions:
        """Returns the token's sessions; none, in version 0, if there never were any."""

    def add_session(self, session: Token, sessions: OpenSessions, code: SessionCode | None = None) -> None:
        """Saves a new session, the token's sessions with it, and that the code, if one is given, has opened it. Raises
        ``Conflict`` if the sessions were changed since they were read, or if the code has opened another."""

    def renew_session(self, session: Token) -> Token:
        """Saves the later ``expires_at``, and returns the session with the latest that was saved. One write. Raises
        ``TokenRefused`` if it was revoked."""

    def add_session_code(self, code: SessionCode) -> None:
        """Saves a new code."""

    def session_code(self, digest: str) -> SessionCode | None:
        """Returns the code, found by its digest alone."""
