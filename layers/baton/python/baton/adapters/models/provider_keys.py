"""A model provider's key in AWS Secrets Manager: a plain string, read at most every five minutes."""

from __future__ import annotations

from collections.abc import Callable

from baton.adapters.secrets import SecretReader, SecretsClient, SecretUnreadable
from baton.domain import errors

_NEVER = frozenset({"ResourceNotFoundException", "AccessDeniedException", "InvalidRequestException"})


class SecretKey:
    """``secret_id`` is a name or an ARN."""

    def __init__(self, client: SecretsClient, secret_id: str, log: Callable[..., None]) -> None:
        self._reader, self._secret_id, self._log = SecretReader(client), secret_id, log

    def get(self) -> str:
        """Raises ``ModelAway`` if Secrets Manager doesn't answer, ``ModelRefuses`` if the secret can never be read."""
        try:
            return self._reader.read(self._secret_id)
        except SecretUnreadable as exc:
            self._log("the model provider's key can't be read", action="secret_trouble", error=exc.code)
            if exc.code in _NEVER:
                raise errors.ModelRefuses(
                    f"The secret that BATON_MODEL_KEY_SECRET names can't be read ({exc.code})."
                ) from exc
            raise errors.ModelAway("The model provider's key can't be read now.") from exc
