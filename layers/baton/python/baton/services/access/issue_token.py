"""Humans issue tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn

from baton.domain import errors
from baton.domain.access.loosening import counts_by_rule
from baton.domain.access.person import People
from baton.domain.access.principal import ACT_AS, CONVERSE, OWN_PARTS, SCOPES, Principal, PrincipalKind, usual_right
from baton.domain.access.rights import Deed, Right, may
from baton.domain.access.token import Token, digest, spell
from baton.domain.access.workspace_change import ChangeState, ChangeSubject, Difference, WorkspaceChange
from baton.domain.alerts.alert import Alert
from baton.domain.alerts.workspace_alerts import NEW_APPROVER, workspace_alert
from baton.domain.idempotency import IdempotencyKey
from baton.domain.ids import is_slug
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps import idempotency
from baton.steps.access.record_change import new_change
from baton.steps.access.second_administrator import Loosening, loosened, must_rest_on, must_still_administer
from baton.steps.access.token_changes import granted, people_with


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A request for a token."""

    kind: PrincipalKind
    subject: str  # an agent's slug, or a human's or service's name
    right: Right | None = None  # of a human; left out, ``usual_right``
    scopes: frozenset[str] = frozenset()
    expires_at: datetime | None = None
    change_id: str | None = None  # the approval of this request by another administrator


def issue_token(
    deps: Deps, by: Principal, request: TokenRequest, idempotency_key: IdempotencyKey | None = None
) -> tuple[Token, str]:
    """Returns the token and its text, which is never shown again. An approver makes tokens of agents, an administrator
    all others; a session makes no human's.

    Raises:
        InvalidInput, RightNeeded, TokenNeeded.
        ChangePending: the token is an administrator's in another name, or for longer; its name is another person's: one
            that has had a token, or counts for an approval rule; or the revocation of a token of the caller waits. It
            waits for another administrator. The asker repeats the approved request with its ``change_id``.
        ChangeOver, NotAsked: ``change_id`` is no approval of this request.
        ChangeOvertaken: its asker or approver has left since, or a revocation of the asker's token was requested.
        SecretAlreadyShown: for a repeat with the same key.
    """
    by.must_have(Deed.ISSUE_AGENT_TOKEN if request.kind is PrincipalKind.AGENT else Deed.ISSUE_TOKEN)

    def replay(saved: dict[str, Any]) -> NoReturn:
        if "change_id" in saved:
            raise errors.ChangePending(deps.store.changes.change(by.workspace, saved["change_id"]))
        raise errors.SecretAlreadyShown(saved["token_id"])

    def decide() -> tuple[Token, str]:
        token, secret = _new_token(deps, by, request)
        recorded = _record(deps, by, request, token, idempotency_key)
        deps.store.tokens.add_token(token, idempotency_key, recorded)
        return token, spell(token.id, secret)

    return idempotency.run_once(deps, idempotency_key, decide, replay)


def _record(
    deps: Deps, by: Principal, request: TokenRequest, token: Token, idempotency_key: IdempotencyKey | None
) -> Recorded:
    change = new_change(deps, by, Difference(ChangeSubject.TOKENS, (token.principal.key,), None, granted(token)))
    now, revocations = token.created_at, _revocations(deps, by, token.created_at)
    if not (token.is_of_a_person or revocations or request.change_id):
        return Recorded((_with_id(change, token),))
    people = deps.store.tokens.people(by.workspace)
    after = people_with(people, token, now) if token.is_of_a_person else people.checked_again()
    if request.change_id is not None:
        must_still_administer(deps, by)
        try:
            approved = deps.store.changes.change(by.workspace, request.change_id)
        except errors.Unknown as unknown:
            raise errors.InvalidInput("change_id", "names no change of this workspace") from unknown
        used = approved.used(by, change, now)
        must_rest_on(people, approved, now)
        if any(approved.decided_at is None or each.at >= approved.decided_at for each in revocations):
            raise errors.ChangeOvertaken(approved.id, "the right of its asker")
        used = _with_id(used, token)
        return Recorded((used,), _alerts(deps, by, used, people, token), after)
    extends = after.named(token.subject).administers_until(now) > people.named(token.subject).administers_until(now)
    if people.administrators(now) and (revocations or extends or _stands_in(deps, by, token)):
        recorded = loosened(deps, by, Loosening(change, people, after, idempotency_key))
        return replace(recorded, changes=tuple(_with_id(each, token) for each in recorded.changes))
    change = _with_id(change, token)
    return Recorded((change,), _alerts(deps, by, change, people, token), after)


def _alerts(deps: Deps, by: Principal, change: WorkspaceChange, people: People, token: Token) -> tuple[Alert, ...]:
    """Returns the alert about a person who can approve from now on, unless no other approver could see it: the maker of
    the token could approve in the person's name."""
    now = token.created_at
    approvers = people.approvers(now)
    is_new = token.subject not in approvers and may(token.right, Deed.APPROVE)
    if not is_new or not approvers - {by.id}:
        return ()
    return (workspace_alert(NEW_APPROVER, change, deps.ids.new("alert", now)),)


def _stands_in(deps: Deps, by: Principal, token: Token) -> bool:
    """True for a token in the name of another person, with any right, and for a new name that counts for a rule or
    administers: its maker could decide, answer and revoke in that name. A name stays its person's without a token, as
    any administrator revokes tokens."""
    if token.right is None or token.subject == by.id:
        return False
    if token.right is Right.ADMINISTRATOR:
        return True
    counts = counts_by_rule(deps.store.settings.of(by.workspace), token.subject, token.right)
    return counts or deps.store.tokens.has_been_issued(by.workspace, token.subject)


def _revocations(deps: Deps, by: Principal, now: datetime) -> list[WorkspaceChange]:
    """Returns the pending revocations of the caller's tokens. The caller would act after them with any token that they
    make meanwhile, also by an agent or a service."""
    waiting = (each for each in deps.store.changes.waiting(by.workspace) if each.state_at(now) is ChangeState.PENDING)
    return [each for each in waiting if each.is_revocation and by.key in each.names]


def _with_id(change: WorkspaceChange, token: Token) -> WorkspaceChange:
    return replace(change, after={**(change.after or {}), "id": token.id})


def read_tokens(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns the workspace's tokens, newest first."""
    by.must_have(Deed.LIST_TOKENS)
    return deps.store.tokens.listed(by.workspace, limit, cursor)


def _new_token(deps: Deps, by: Principal, request: TokenRequest) -> tuple[Token, str]:
    now = deps.clock.now()
    _check(deps, by, request, now)
    secret, right = deps.ids.secret(), _right(request)
    token = Token(
        id=deps.ids.new("t", now).removeprefix("t_"),
        workspace=by.workspace,
        kind=request.kind,
        subject=request.subject,
        scopes=request.scopes | ({ACT_AS} if right is Right.ADMINISTRATOR else frozenset()),
        digest=digest(secret),
        created_at=now,
        created_by=by.key,
        expires_at=request.expires_at,
        right=right,
    )
    return token, secret


def _right(request: TokenRequest) -> Right | None:
    """The release before reads an administrator's right from the scope ``act_as``, and requests may still name it."""
    return usual_right(request.scopes, request.right) if request.kind is PrincipalKind.HUMAN else None


def _check(deps: Deps, by: Principal, request: TokenRequest, now: datetime) -> None:
    if not is_slug(request.subject):
        raise errors.InvalidInput(
            "subject", "must be 1 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen"
        )
    if request.kind is PrincipalKind.SERVICE and request.subject in OWN_PARTS:
        raise errors.InvalidInput("subject", f"{request.subject!r} is what Baton's own part is called in the trail")
    unknown = request.scopes - SCOPES
    if unknown:
        raise errors.InvalidInput("scopes", f"{min(unknown)!r} is not a scope; known: {', '.join(sorted(SCOPES))}")
    if request.kind is PrincipalKind.AGENT:
        if request.scopes - {CONVERSE}:
            raise errors.InvalidInput(
                "scopes", f"an agent acts only as itself: its tokens take no scope but {CONVERSE!r}"
            )
        if deps.store.agents.agent(by.workspace, request.subject) is None:
            raise errors.UnknownAgent(request.subject, "subject", deps.store.agents.roster(by.workspace).some_active())
    if request.right is not None:
        _check_right(request, request.right)
    if request.kind is PrincipalKind.HUMAN and by.is_session:
        raise errors.TokenNeeded("make a human's token")
    if request.expires_at is not None and request.expires_at <= now:
        raise errors.InvalidInput("expires_at", "must be in the future")


def _check_right(request: TokenRequest, right: Right) -> None:
    if request.kind is not PrincipalKind.HUMAN:
        raise errors.InvalidInput("right", f"is for humans: leave it out for the token of a {request.kind}")
    if ACT_AS in request.scopes and right is not Right.ADMINISTRATOR:
        raise errors.InvalidInput("right", f"must be {Right.ADMINISTRATOR!s} with the scope {ACT_AS!r}: leave one out")
