"""The tracker's webhook: an address with a secret in it, a handshake that a human opens, and signatures.

A caller that knows the address can complete the handshake once, while it is open. After that only deliveries signed
with the handshake's token are accepted. A delivery only says *that* something changed: Baton reads the change from the
tracker.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed

HANDSHAKE = timedelta(minutes=10)
# The tracker repeats a delivery for about a day. The reconciliation handles older changes.
REPLAY_WINDOW = timedelta(hours=48)
CLOCK_SKEW = timedelta(minutes=5)
MAX_TOKEN = 200
_SCHEME = "sha256="


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A workspace's webhook."""

    workspace: str
    digest: str  # of the address's secret
    opened_at: datetime
    opened_by: str
    token: str | None = None  # signs the deliveries; None before the handshake
    installed_at: datetime | None = None
    verified_at: datetime | None = None  # the first signed delivery; from then on the token is shown to nobody
    removed: bool = False
    version: int = 1

    @property
    def is_installed(self) -> bool:
        return self.token is not None and not self.removed

    @property
    def is_verified(self) -> bool:
        """True if a signed delivery has arrived."""
        return self.is_installed and self.verified_at is not None

    def state(self, now: datetime) -> str:
        """Returns ``open`` (to a handshake), ``expired`` (without one), ``installed`` (by one) or ``verified`` (by a
        signed delivery)."""
        if self.is_installed:
            return "verified" if self.is_verified else "installed"
        return "open" if now - self.opened_at < HANDSHAKE else "expired"

    def knows(self, secret: str) -> bool:
        return not self.removed and _same(self.digest, digest(secret))

    def installed(self, token: str, now: datetime) -> Webhook:
        """Returns the webhook after the handshake. Raises ``HandshakeClosed`` if the handshake isn't open or another
        token is installed; the same token changes nothing."""
        if self.token is not None:
            if _same(self.token, token):
                return self
            raise errors.HandshakeClosed
        if self.state(now) != "open":
            raise errors.HandshakeClosed
        return replace(self, token=token, installed_at=now, version=self.version + 1)

    def must_have_signed(self, body: bytes, signature: str) -> None:
        """Raises ``BadSignature`` unless ``signature`` is the HMAC-SHA256 of ``body``. Compares in constant time."""
        if self.token is None or not _same(_SCHEME + sign(self.token, body), signature.strip().lower()):
            raise errors.BadSignature

    def verified(self, now: datetime) -> Webhook:
        return replace(self, verified_at=now, version=self.version + 1)

    def taken_down(self) -> Webhook:
        return replace(self, removed=True, token=None, version=self.version + 1)


def opened(before: Webhook | None, workspace: str, secret: str, by: Principal, now: datetime) -> Webhook:
    """Returns a webhook with an open handshake. Raises ``HumanNeeded``, or ``WebhookInstalled`` if one is installed: it
    has to be removed first."""
    by.must_have(Deed.OPEN_WEBHOOK)
    if before is not None and before.is_installed:
        raise errors.WebhookInstalled
    version = 1 if before is None else before.version + 1
    return Webhook(workspace=workspace, digest=digest(secret), opened_at=now, opened_by=by.key, version=version)


def digest(secret: str) -> str:
    return hashlib.sha256(_bytes(secret)).hexdigest()


def sign(token: str, body: bytes) -> str:
    return hmac.new(_bytes(token), body, hashlib.sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(_bytes(one), _bytes(other))


def _bytes(text: str) -> bytes:
    """Encodes any text, lone surrogates included: strangers send it."""
    return text.encode(errors="surrogatepass")


def is_fresh(sent_at: datetime, now: datetime) -> bool:
    return -CLOCK_SKEW <= now - sent_at <= REPLAY_WINDOW
