"""A model provider's key in AWS Secrets Manager: a plain string, read at most every five minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore.exceptions import ClientError

from baton.domain.errors import ModelAway, ModelRefuses

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.adapters.secrets import SecretsClient

KEPT_SECONDS = 300
_NEVER = frozenset({"ResourceNotFoundException", "AccessDeniedException", "InvalidRequestException"})


class SecretKey:
    """``secret_id`` is a name or an ARN."""

    def __init__(self, client: SecretsClient, secret_id: str, log: Callable[..., None]) -> None:
        self._secret_id, self._log = secret_id, log
        kept: Any = client  # Powertools' type is boto3's own, of which it uses a single call
        self._provider = SecretsProvider(boto3_client=kept)

    def get(self) -> str:
        """Raises ``ModelAway`` if Secrets Manager doesn't answer, ``ModelRefuses`` if the secret can never be read."""
        try:
            found = self._provider.get(self._secret_id, max_age=KEPT_SECONDS)
        except GetParameterError as exc:
            cause = exc.__context__ or exc
            error = cause.response["Error"]["Code"] if isinstance(cause, ClientError) else type(cause).__name__
            self._log("the model provider's key can't be read", action="secret_trouble", error=error)
            if error in _NEVER:
                raise ModelRefuses(f"The secret that BATON_MODEL_KEY_SECRET names can't be read ({error}).") from exc
            raise ModelAway("The model provider's key can't be read now.") from exc
        return found if isinstance(found, str) else ""
