"""The people of a workspace with different rights, and the tokens that they act with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.rights import Right
from baton.domain.access.token import Token, credentials_from
from baton.services.access.authenticate import admit
from baton.services.access.issue_token import TokenRequest, issue_token

if TYPE_CHECKING:
    from datetime import datetime

    from simulation.simulation import Simulation

READER, MEMBER, APPROVER, ADMINISTRATOR = Right
# Each person's right at the beginning. ``alice`` never leaves: a person has to be there in the end.
RIGHTS = {
    "alice": ADMINISTRATOR,
    "boss": ADMINISTRATOR,
    "chef": ADMINISTRATOR,
    "bob": APPROVER,
    "carol": APPROVER,
    "dave": APPROVER,
    "h0": APPROVER,
    "h1": APPROVER,
    "h2": APPROVER,
    "h3": APPROVER,
    "mem": MEMBER,
    "rea": READER,
}
RANK = list(Right).index
LEAVING = ("h0", "h1", "h2", "h3", "h1", "h2", "boss", "chef", "mem")


def token_request(name: str, right: Right, expires_at: datetime | None = None) -> TokenRequest:
    return TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=right, expires_at=expires_at)


class Staff:
    """``tokens``: each person's, the newest last."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.tokens: dict[str, list[Token]] = {}
        self._texts: dict[str, str] = {}

    def welcome(self, by: Principal) -> None:
        """Everybody gets a token, while nothing goes wrong. In some seeds there is one administrator alone."""
        has_others = self._sim.habits.has_trust and self._sim.draw(4)
        for name, most in RIGHTS.items():
            right = most if has_others or name == "alice" else min(most, APPROVER, key=RANK)
            self.let_in(by, name, right)

    def let_in(self, by: Principal, name: str, right: Right) -> None:
        self.add(*issue_token(self._sim.deps, by, token_request(name, right)), right)

    def add(self, token: Token, text: str, right: Right) -> None:
        """``right``: that was asked for."""
        self._sim.oracle.people.is_given(token.id, str(right))
        self.tokens.setdefault(token.subject, []).append(token)
        self._texts[token.id] = text

    def principal(self, name: str) -> Principal:
        """The person, mostly by their newest token."""
        own = self.tokens[name]
        return (own[-1] if self._sim.draw(6) else self._sim.pick(own)).principal

    def must_be_let_in(self, by: Principal) -> None:
        """Raises ``TokenRefused`` for a token that was revoked or has expired. Principals without a token pass."""
        if text := self._texts.get(by.token_id):
            admit(self._sim.deps, credentials_from(f"Bearer {text}"))
            is_let = self._sim.oracle.people.is_let_in(by.token_id)
            self._sim.oracle.verdict.must(is_let, "{} is let in by a token that is over", by.key)
