"""Changes of a workspace: its settings, tokens, agents, tools, routes and tracker, each with the old and the new value
(docs/decisions/109-changes-of-a-workspace.md). Pure.

A change that loosens a rule waits for a second administrator while the workspace has two or more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal, principal_named
from baton.domain.access.rights import Deed
from baton.domain.canonical_json import canonical_json, digest_of

# The time that other administrators have for a decision, and the asker for repeating an approved request.
WAITS_FOR = timedelta(days=7)
# The most changes of one person that wait at the same time, revocations of tokens not counted.
MAX_WAITING = 20
# Of the old and the new value together: both are in one item.
MAX_CHARACTERS = 300_000


class ChangeSubject(StrEnum):
    SETTINGS = "settings"
    TOKENS = "tokens"
    AGENTS = "agents"
    TOOLS = "tools"
    ROUTES = "routes"
    APPROVALS = "approvals"  # of a person, ended by an administrator
    TRACKER = "tracker"  # its token and its webhook; its settings are settings


class ChangeState(StrEnum):
    APPLIED = "applied"
    PENDING = "pending"  # waits for another administrator
    APPROVED = "approved"  # waits for the asker, who repeats the request: a token's secret is shown to them alone
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceChange:
    """``names``: the changed settings, or the changed token's principal and id, agent, tool, work type, or ``token`` or
    ``webhook`` of the tracker. ``before``
    and ``after`` have only the fields that differ; None if the thing is new, or gone. No secret is in them."""

    workspace: str
    id: str
    at: datetime
    by: str  # the principal's key
    credential: dict[str, Any] = field(default_factory=dict)
    subject: ChangeSubject
    names: tuple[str, ...]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    state: ChangeState = ChangeState.APPLIED
    is_alone: bool = False  # the only administrator loosened a rule
    expires_at: datetime | None = None  # of a change that waits
    applied_at: datetime | None = None
    decided_at: datetime | None = None
    decided_by: str | None = None
    decided_credential: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None  # of a refusal
    alert_id: str | None = None  # the alert that asks the other administrators for a decision
    version: int = 1

    @property
    def asker(self) -> Principal:
        """The person who asked for the change."""
        return principal_named(self.workspace, self.by)

    @property
    def approver(self) -> Principal | None:
        """The person who decided on the change; None before that."""
        return None if self.decided_by is None else principal_named(self.workspace, self.decided_by)

    @property
    def parties(self) -> frozenset[str]:
        """The names of the people who asked for the change and decided on it, and of the owner of its token."""
        keys = (self.by, self.decided_by or "", *self.names)
        return frozenset(each.removeprefix("human:") for each in keys if each.startswith("human:"))

    @property
    def digest(self) -> str:
        """SHA-256 of the content that a second administrator approves."""
        content = {"subject": str(self.subject), "names": list(self.names), "before": self.before, "after": self.after}
        return digest_of(content)

    @property
    def is_revocation(self) -> bool:
        """True for the revocation of a token. No limit delays the end of a right. Each names another token."""
        return self.subject is ChangeSubject.TOKENS and self.after is None

    def state_at(self, now: datetime) -> ChangeState:
        waits = self.state in {ChangeState.PENDING, ChangeState.APPROVED}
        has_expired = waits and self.expires_at is not None and self.expires_at <= now
        return ChangeState.EXPIRED if has_expired else self.state

    def waiting(self, alert_id: str) -> WorkspaceChange:
        """Returns the change as a request to the other administrators; the alert asks them."""
        return replace(
            self, state=ChangeState.PENDING, expires_at=self.at + WAITS_FOR, applied_at=None, alert_id=alert_id
        )

    def decided(
        self, by: Principal, state: ChangeState, at: datetime, digest: str = "", reason: str | None = None
    ) -> WorkspaceChange:
        """Returns the change with the decision of another administrator.

        Raises:
            RightNeeded, NotAsked: the asker doesn't decide on their own change, nor the holder on the revocation of
                their token.
            ChangeOver: the change isn't pending any more.
            InvalidInput: ``digest`` is given, and isn't the digest of this change.
        """
        by.must_have(Deed.DECIDE_CHANGE)
        self._must_be(ChangeState.PENDING, at)
        if by.key == self.by or (self.is_revocation and by.key in self.names):
            why = f"You asked for the change {self.id}" if by.key == self.by else f"The change {self.id} is about you"
            raise errors.NotAsked(self.id, f"{why}: another administrator decides on it.")
        if digest and digest != self.digest:
            raise errors.InvalidInput("digest", "is of another content: read the change again, and send its digest")
        return self._next(by, state, at, reason)

    def refused(self, by: Principal, at: datetime, reason: str | None) -> WorkspaceChange:
        """Returns the change as another administrator refuses it, or as any administrator ends an approval that isn't
        used yet. Raises ``RightNeeded``, ``NotAsked`` and ``ChangeOver``."""
        if self.state_at(at) is not ChangeState.APPROVED:
            return self.decided(by, ChangeState.REFUSED, at, reason=reason)
        by.must_have(Deed.DECIDE_CHANGE)
        return self._next(by, ChangeState.REFUSED, at, reason)

    def withdrawn(self, by: Principal, at: datetime) -> WorkspaceChange:
        """Returns the change as its asker takes it back. Raises ``NotAsked`` for another person, and ``ChangeOver``."""
        by.must_have(Deed.WITHDRAW_CHANGE)
        if by.key != self.by:
            may = f"only {self.by} withdraws it, and another administrator can refuse it"
            raise errors.NotAsked(self.id, f"{self.by} asked for the change {self.id}: {may}.")
        if self.state_at(at) is not ChangeState.APPROVED:
            self._must_be(ChangeState.PENDING, at)
        return self._next(by, ChangeState.WITHDRAWN, at, None)

    def used(self, by: Principal, asked: WorkspaceChange, at: datetime) -> WorkspaceChange:
        """Returns the approved change as it is applied by the asker's repeated request.

        Raises:
            NotAsked: another person repeats the request.
            ChangeOver: the change isn't approved, or was used.
            InvalidInput: ``asked`` has another content.
        """
        if by.key != self.by:
            may = f"only {self.by} repeats the request with its id. Without change_id you ask for a change of your own"
            raise errors.NotAsked(self.id, f"{self.by} asked for the change {self.id}: {may}.")
        self._must_be(ChangeState.APPROVED, at)
        if asked.digest != self.digest:
            raise errors.InvalidInput(
                "change_id", "is the approval of another request: repeat the one that was approved"
            )
        return replace(self, state=ChangeState.APPLIED, applied_at=at, expires_at=None, version=self.version + 1)

    def expired(self) -> WorkspaceChange:
        return replace(self, state=ChangeState.EXPIRED, version=self.version + 1)

    def _must_be(self, state: ChangeState, now: datetime) -> None:
        if self.state_at(now) is not state:
            raise errors.ChangeOver(self.id, str(self.state_at(now)))

    def _next(self, by: Principal, state: ChangeState, at: datetime, reason: str | None) -> WorkspaceChange:
        expires_at = at + WAITS_FOR if state is ChangeState.APPROVED else None
        return replace(
            self,
            state=state,
            applied_at=at if state is ChangeState.APPLIED else None,
            decided_at=at,
            decided_by=by.key,
            decided_credential=by.credential,
            reason=reason,
            expires_at=expires_at,
            version=self.version + 1,
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """The subject of a change with its old and new values."""

    subject: ChangeSubject
    names: tuple[str, ...]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def must_fit(self) -> None:
        """Raises ``TooLarge``."""
        if len(canonical_json({"before": self.before, "after": self.after})) > MAX_CHARACTERS:
            most = f"{MAX_CHARACTERS:,} characters of old and new values"
            raise errors.TooLarge(str(self.subject), f"changes too much at once: at most {most}; change it in parts")


def difference(
    subject: ChangeSubject, names: tuple[str, ...], before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Difference:
    """Returns the difference of two values in JSON's types: the fields that differ."""
    if before is None or after is None:
        return Difference(subject, names, before, after)
    differ = [name for name in after if before.get(name) != after[name]]
    old, new = ({name: each.get(name) for name in differ} for each in (before, after))
    return Difference(subject, names or tuple(sorted(differ)), old, new)


def change_of(id_: str, by: Principal, at: datetime, what: Difference) -> WorkspaceChange:
    """Returns the change as the principal makes it. Raises ``TooLarge``."""
    what.must_fit()
    return WorkspaceChange(
        workspace=by.workspace,
        id=id_,
        at=at,
        by=by.key,
        credential=dict(by.credential),
        subject=what.subject,
        names=what.names,
        before=None if what.before is None else dict(what.before),
        after=None if what.after is None else dict(what.after),
        applied_at=at,
    )
