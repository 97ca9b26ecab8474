"""The tracker's way back to us: an address with a secret in it, a handshake that a human opens, and signatures.

Whoever knows the address may shake hands while the handshake is open, and once; afterwards only what is signed with the
token of that handshake is believed, and only that *something* happened: what, is read from the tracker itself.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from baton.domain.errors import BadSignature, HandshakeClosed, WebhookInstalled

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.principal import Principal

HANDSHAKE = timedelta(minutes=10)
# The tracker repeats a delivery for about a day. What is older was seen to by the reconciliation.
REPLAY_WINDOW = timedelta(hours=48)
CLOCK_SKEW = timedelta(minutes=5)
MAX_TOKEN = 200
_SCHEME = "sha256="


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """``digest``: of the address's secret. ``token``: signs the deliveries; None before the handshake. ``verified_at``:
    when the first delivery came that it signed, after which nobody is shown it any more."""

    workspace: str
    digest: str
    opened_at: datetime
    opened_by: str
    token: str | None = None
    installed_at: datetime | None = None
    verified_at: datetime | None = None
    removed: bool = False
    version: int = 1

    @property
    def is_installed(self) -> bool:
        return self.token is not None and not self.removed

    def state(self, now: datetime) -> str:
        """``open`` to a handshake, ``expired`` without one, ``installed`` by one, ``verified`` by a signed delivery."""
        if self.is_installed:
            return "verified" if self.verified_at else "installed"
        return "open" if now - self.opened_at < HANDSHAKE else "expired"

    def knows(self, secret: str) -> bool:
        return not self.removed and _same(self.digest, digest(secret))

    def installed(self, token: str, now: datetime) -> Webhook:
        """Raises ``HandshakeClosed``, unless this very token is installed already. One that is stays."""
        if self.token is not None:
            if _same(self.token, token):
                return self
            raise HandshakeClosed
        if self.state(now) != "open":
            raise HandshakeClosed
        return replace(self, token=token, installed_at=now, version=self.version + 1)

    def must_have_signed(self, body: bytes, signature: str) -> None:
        """HMAC-SHA256 of the very bytes, compared in constant time. Raises ``BadSignature``."""
        if self.token is None or not _same(_SCHEME + sign(self.token, body), signature.strip().lower()):
            raise BadSignature

    def verified(self, now: datetime) -> Webhook:
        return replace(self, verified_at=now, version=self.version + 1)

    def taken_down(self) -> Webhook:
        return replace(self, removed=True, token=None, version=self.version + 1)


def opened(before: Webhook | None, workspace: str, secret: str, by: Principal, now: datetime) -> Webhook:
    """Raises ``HumanNeeded``; ``WebhookInstalled`` while one is: it is never overwritten, only taken down first."""
    by.must_be_human("open the webhook's handshake")
    if before is not None and before.is_installed:
        raise WebhookInstalled
    version = 1 if before is None else before.version + 1
    return Webhook(workspace=workspace, digest=digest(secret), opened_at=now, opened_by=by.key, version=version)


def digest(secret: str) -> str:
    return hashlib.sha256(_bytes(secret)).hexdigest()


def sign(token: str, body: bytes) -> str:
    return hmac.new(_bytes(token), body, hashlib.sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(_bytes(one), _bytes(other))


def _bytes(text: str) -> bytes:
    """Of whatever a stranger sent, too."""
    return text.encode(errors="surrogatepass")


def is_fresh(sent_at: datetime, now: datetime) -> bool:
    return -CLOCK_SKEW <= now - sent_at <= REPLAY_WINDOW
