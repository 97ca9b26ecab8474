"""The store of settings and tokens, and of what callers use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from baton.domain.access.metering import BellUse
from baton.domain.access.person import People, Person
from baton.domain.access.principal import Principal
from baton.domain.access.saved_view import ViewList
from baton.domain.access.session import OpenSessions, SessionCode
from baton.domain.access.token import Credentials, Token
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.alerts.alert import Alert
from baton.domain.idempotency import IdempotencyKey
from baton.domain.settings.settings import Settings
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.paging import Page


@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a change of the workspace, written in the transaction of the change. Each value is the next version
    of the read value: ``Conflict`` if it isn't.

    ``changes``: a new change, or the pending change that is applied. ``people``: with the changed token, or unchanged
    in their next version for a decision that rests on them. ``circuit``: of a tracker that is switched on; otherwise a
    process that still sees no tracker could clear the wake-up, and nothing would set it again."""

    changes: tuple[WorkspaceChange, ...] = ()
    alerts: tuple[Alert, ...] = ()
    people: People | None = None
    circuit: TrackerCircuit | None = None


@dataclass(frozen=True, slots=True)
class SettingsVersion:
    """A version of the settings, and the principal that made it."""

    settings: Settings
    updated_by: str | None
    updated_at: datetime | None


class ChangeStore(Protocol):
    """Changes of the workspace. A change is written with the changed object (``Recorded``), a pending change by a
    commit."""

    def change(self, workspace: str, change_id: str) -> WorkspaceChange:
        """Returns the change. Raises ``Unknown``."""

    def newest(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns all changes, newest first."""

    def waiting(self, workspace: str) -> tuple[WorkspaceChange, ...]:
        """Returns all changes that wait for an administrator or for their asker, newest first: some of each
        administrator. The index lags, the changes don't: decided ones are left out."""


class SettingsStore(Protocol):
    def of(self, workspace: str) -> Settings:
        """Returns the settings; the defaults, at version 0, if none were saved."""

    def version(self, workspace: str, version: int) -> SettingsVersion | None:
        """Returns an earlier or the current version of the settings; None if it doesn't exist. One read."""

    def save_settings(
        self,
        workspace: str,
        settings: Settings,
        by: Principal,
        at: datetime,
        recorded: Recorded | None = None,
    ) -> None:
        """Saves the settings in their next version, with the record. Raises ``Conflict`` if the version isn't the next,
        and as ``Recorded`` says."""


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

    def count_bell_use(self, by: Principal, minute: int, connection_id: str) -> BellUse:
        """Adds a request by a connection to the bell to the principal's counts of a minute, and returns them. One
        write, tried once. May raise any error of a store, and may have counted all the same."""

    def pause_bell(self, by: Principal, minute: int, until: datetime) -> None:
        """Has ``count_bell_use`` return ``until`` for the principal's token in this minute and the next one. Two
        writes. Raises ``Busy``."""

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

    def add_token(
        self, token: Token, idempotency_key: IdempotencyKey | None = None, recorded: Recorded | None = None
    ) -> None:
        """Saves a new token and its record, which has the people with a human's token. Raises ``KeyTaken``, and
        ``Conflict`` as ``Recorded`` says."""

    def save_revocation(self, token: Token, recorded: Recorded | None = None) -> None:
        """Saves ``revoked_at`` and ``revoked_by`` with the record, which has the people without a human's token. The
        first revocation stands. Raises ``Conflict`` as ``Recorded`` says."""

    def save_people(self, workspace: str, recorded: Recorded, idempotency_key: IdempotencyKey | None = None) -> None:
        """Saves the people of the record with it, for every process from its next request on. Raises ``KeyTaken``, and
        ``Conflict`` as ``Recorded`` says."""

    def people(self, workspace: str) -> People:
        """Returns everybody with a token that isn't revoked. Two reads, and one for each hundred tokens; before a
        release that knows people has issued or revoked a token, all tokens of the workspace are read. Tokens that an
        earlier release issued since are among them."""

    def has_been_issued(self, workspace: str, name: str) -> bool:
        """True if a human's token of this name was ever issued, also if it has expired or was revoked. Reads all tokens
        of the workspace."""

    def person(self, workspace: str, name: str) -> Person:
        """Returns the human of this name, without any right if they have no token. Like ``present_token`` no read
        beyond the request's version of the workspace if this process has read the person since anything of the
        workspace was changed; else two small reads, and the reads of ``people`` for a person without a token."""

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
