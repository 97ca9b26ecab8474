"""The people of a workspace: the tokens of each human name, and the right that follows from them. Pure.

A person is a name: two tokens of one name are one person, and one administrator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType

from baton.domain import errors, times
from baton.domain.access.principal import is_tracker_human
from baton.domain.access.rights import Deed, Right, may
from baton.domain.access.token import Token

# The most valid tokens of humans in a workspace. One item names all of them.
MAX_TOKENS = 5_000
# The most people without a token and with ended approvals. Their names stay in that item.
MAX_ENDED = 1_000
# Servers' clocks may differ: a person who comes back so soon hasn't left.
CLOCKS_DIFFER = times.seconds(2)
FOREVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HeldRight:
    """The right that one token of a person gives, until it expires; ``expires_at`` None: never."""

    token_id: str
    right: Right
    expires_at: datetime | None = None

    @property
    def ends_at(self) -> datetime:
        return self.expires_at or FOREVER


@dataclass(frozen=True, slots=True)
class Person:
    """A human name of a workspace with its tokens that aren't revoked. Sessions are none of them: a session has the
    right of its token."""

    workspace: str
    name: str
    held: tuple[HeldRight, ...] = ()
    # When the person last got a right that they didn't have; no entry for a right that they have had all along.
    regained: Mapping[Right, datetime] = field(default_factory=dict)
    # When an administrator last ended all approvals of the person; None if none has.
    ended_at: datetime | None = None

    def still_may(self, deed: Deed, since: datetime | None, now: datetime) -> bool:
        """True if the person has the right for the deed at ``now``, and has had it all the time ``since`` then; None
        for an unknown time. A person's decisions from before they left don't come back with them."""
        regained_at = self.regained.get(deed.least)
        is_same_time = since is None or regained_at is None or regained_at <= since + CLOCKS_DIFFER
        return is_same_time and self.stands(since) and may(self.right_at(now), deed)

    def stands(self, since: datetime | None) -> bool:
        """True unless an administrator has ended the person's decisions of that time; None for an unknown time."""
        return self.ended_at is None or (since is not None and since > self.ended_at)

    def followed_by(self, after: Person, now: datetime) -> Person:
        """Returns ``after``, which replaces this person now, with the rights that it regains."""
        has = self.right_at(now)
        gained = {right: now for right in Right if has is None or not has.covers(right)}
        return replace(after, regained={**self.regained, **gained})

    def right_at(self, now: datetime) -> Right | None:
        """Returns the highest right of the tokens that are valid at ``now``; None for a person who has left."""
        valid = [each.right for each in self.held if now < each.ends_at]
        return max(valid, key=list(Right).index, default=None)

    def administers_until(self, now: datetime) -> datetime:
        """Returns when the person's right of an administrator ends; ``now`` if they have none."""
        ends = [each.ends_at for each in self.held if each.right is Right.ADMINISTRATOR]
        return max([now, *ends])

    def with_token(self, token: Token) -> Person:
        return replace(self, held=(*self.held, *_held([token])))

    def without_token(self, token_id: str) -> Person:
        return replace(self, held=tuple(each for each in self.held if each.token_id != token_id))


@dataclass(frozen=True, slots=True)
class People:
    """Everybody with a token. ``version``: rises with every token of a human that is issued or revoked, so that a
    decision about people holds at its commit. 0: no release that knows people has written them yet."""

    workspace: str
    persons: Mapping[str, Person] = field(default_factory=dict)
    version: int = 0
    # By name: until when an administrator has ended a person's approvals.
    ended: Mapping[str, datetime] = field(default_factory=dict)

    def named(self, name: str) -> Person:
        found = self.persons.get(name) or Person(self.workspace, name)
        return replace(found, ended_at=self.ended.get(name))

    def administrators(self, now: datetime) -> frozenset[str]:
        """Returns the names that have the right of an administrator now."""
        return frozenset(name for name, each in self.persons.items() if each.administers_until(now) > now)

    def approvers(self, now: datetime) -> frozenset[str]:
        """Returns the names that have at least the right of an approver now."""
        return frozenset(name for name, each in self.persons.items() if may(each.right_at(now), Deed.APPROVE))

    def approvers_since(self, at: datetime, now: datetime) -> frozenset[str]:
        """Returns the names that have at least the right of an approver now, and have had it since before ``at``."""
        gained = {name: self.persons[name].regained.get(Right.APPROVER) for name in self.approvers(now)}
        return frozenset(name for name, since in gained.items() if since is None or since < at - CLOCKS_DIFFER)

    def saved(self, person: Person, now: datetime) -> People:
        """Returns the next version, with the person as given and without tokens that have expired. Raises
        ``LimitReached``."""
        kept = {**self.persons, person.name: self.named(person.name).followed_by(person, now)}
        valid = {
            name: replace(each, held=tuple(h for h in each.held if now < h.ends_at)) for name, each in kept.items()
        }
        persons = {name: each for name, each in valid.items() if each.held}
        if sum(len(each.held) for each in persons.values()) > MAX_TOKENS:
            raise errors.LimitReached("tokens of humans", MAX_TOKENS)
        return replace(self, persons=persons, version=self.version + 1)._without_past(now)

    def with_ended(self, names: Iterable[str], now: datetime) -> People:
        """Returns the people in the same version, without anything that rests on these until now. Raises
        ``LimitReached``: the names of people without a token stay, and one item has all of them."""
        ended = {name: max(now, self.ended.get(name, now)) for name in names}
        after = replace(self, ended={**self.ended, **ended})._without_past(now)
        if len(after.ended.keys() - self.persons.keys()) > MAX_ENDED and ended.keys() - self.ended.keys():
            remedy = "set 'reader' as the person's right in tracker.rights instead"
            raise errors.LimitReached(f"people without a token whose approvals were ended; {remedy}", MAX_ENDED)
        return after

    def _without_past(self, now: datetime) -> People:
        """Drops the ends of people without a token: they regain their rights later than that."""
        past = now - 2 * CLOCKS_DIFFER
        lasting = {*self.persons, *filter(is_tracker_human, self.ended)}
        return replace(self, ended={name: at for name, at in self.ended.items() if name in lasting or at > past})

    def with_unlisted(self, tokens: Iterable[Token]) -> People:
        """Returns the people with the tokens, oldest first, that they lack: an earlier release, which knows no people,
        issued them. A person who had left comes back with such a token when it was made."""
        persons = dict(self.persons)
        known = {held.token_id for each in persons.values() for held in each.held}
        for token in tokens:
            if token.is_of_a_person and token.revoked_at is None and token.id not in known:
                before = persons.get(token.subject) or self.named(token.subject)
                persons[token.subject] = before.followed_by(before.with_token(token), token.created_at)
        return replace(self, persons=persons)

    def checked_again(self) -> People:
        """Returns the same people in the next version: for a decision that rests on the present administrators."""
        return replace(self, version=self.version + 1)


def people_of(
    workspace: str,
    tokens: Iterable[Token],
    version: int = 0,
    regained: Mapping[str, Mapping[Right, datetime]] = MappingProxyType({}),
    ended: Mapping[str, datetime] = MappingProxyType({}),
) -> People:
    """Returns the owners of the tokens, with the known ``regained`` and ``ended``. Ignores tokens of agents and
    services, sessions, and tokens that were revoked."""
    persons: dict[str, Person] = {}
    for token in tokens:
        if token.is_of_a_person and token.revoked_at is None:
            new = Person(workspace, token.subject, regained=regained.get(token.subject, {}))
            before = persons.get(token.subject) or new
            persons[token.subject] = before.with_token(token)
    return People(workspace, persons, version, dict(ended))


def _held(tokens: Iterable[Token]) -> tuple[HeldRight, ...]:
    return tuple(HeldRight(each.id, each.right, each.expires_at) for each in tokens if each.right is not None)
