"""Secrets in AWS Secrets Manager: the token of each workspace's tracker, and the key of the callbacks. A secret is read
at most every five minutes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError
from botocore import exceptions

from baton.domain import errors
from baton.domain.ids import is_id
from baton.ports.system import CallbackKey
from baton.ports.tracker import Secrets

KEPT_SECONDS = 300
_ATTEMPTS = 3


class SecretsClient(Protocol):
    def get_secret_value(self, **request: Any) -> Any: ...
    def put_secret_value(self, **request: Any) -> Any: ...
    def create_secret(self, **request: Any) -> Any: ...


class SecretUnreadable(Exception):
    """``code``: the error code of AWS, or the name of the exception if AWS wasn't reached."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(_code(cause))
        self.code = _code(cause)
        self.is_missing = self.code == "ResourceNotFoundException" or _is_being_deleted(cause)


class SecretReader:
    """Reads secrets by name or ARN, and keeps each for five minutes."""

    def __init__(self, client: SecretsClient) -> None:
        kept: Any = client  # Powertools' type is boto3's own, of which it uses a single call
        self._provider = SecretsProvider(boto3_client=kept)

    def read(self, secret_id: str, *, afresh: bool = False) -> str:
        """Returns the secret's text; empty if it has none. Raises ``SecretUnreadable``."""
        try:
            found = self._provider.get(secret_id, max_age=KEPT_SECONDS, force_fetch=afresh)
        except GetParameterError as exc:
            # Powertools wraps every error in its own, which has nothing but the text; the cause has the code.
            raise SecretUnreadable(exc.__context__ or exc) from exc
        return found if isinstance(found, str) else ""

    def forget(self) -> None:
        self._provider.store.clear()


class SecretsManagerSecrets:
    """``prefix`` begins the names of all secrets, and the resource of the IAM policy. ``kms_key`` encrypts those that
    are made; empty for the account's own key of Secrets Manager."""

    def __init__(self, client: SecretsClient, prefix: str, log: Callable[..., None], kms_key: str = "") -> None:
        self._client, self._prefix, self._log = client, prefix, log
        self._made_with = {"Description": "A Notion token, kept by Baton."} | ({"KmsKeyId": kms_key} if kms_key else {})
        self._reader = SecretReader(client)

    def put(self, workspace: str, token: str) -> None:
        name = self._name(workspace)
        try:
            self._put(name, token)
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            self._log_trouble("tracker token not saved", workspace, _code(exc))
            if _is_being_deleted(exc):
                raise errors.Busy(
                    f"The secret {name} is scheduled for deletion: restore it in AWS Secrets Manager."
                ) from exc
            raise errors.Busy from exc
        self._reader.forget()

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        try:
            return self._reader.read(self._name(workspace), afresh=afresh) or None
        except SecretUnreadable as exc:
            if not exc.is_missing:
                self._log_trouble("tracker token can't be read", workspace, exc.code)
                raise errors.Busy from exc
        self._reader.forget()
        return None

    def _put(self, name: str, token: str) -> None:
        """Replaces the secret, or creates it if there is none; another process may create it at the same time."""
        for _ in range(_ATTEMPTS - 1):
            try:
                self._client.put_secret_value(SecretId=name, SecretString=token)
            except exceptions.ClientError as exc:
                if _code(exc) != "ResourceNotFoundException":
                    raise
            else:
                return
            try:
                self._client.create_secret(Name=name, SecretString=token, **self._made_with)
            except exceptions.ClientError as exc:
                if _code(exc) != "ResourceExistsException":
                    raise
            else:
                return
        self._client.put_secret_value(SecretId=name, SecretString=token)

    def _name(self, workspace: str) -> str:
        """Returns the secret's name. Raises ``ValueError`` for an id that could name another workspace's secret."""
        if not is_id(workspace):
            raise ValueError(workspace)
        return f"{self._prefix}/{workspace}/notion"

    def _log_trouble(self, message: str, workspace: str, error: str) -> None:
        self._log(message, action="secret_trouble", workspace=workspace, error=error)


class SecretsManagerCallbackKey:
    """The key that the stack generated when it was deployed; nobody has ever seen it. ``secret_id`` is its ARN."""

    def __init__(self, client: SecretsClient, secret_id: str, log: Callable[..., None]) -> None:
        self._reader, self._secret_id, self._log = SecretReader(client), secret_id, log
        self._key: bytes | None = None

    def get(self) -> bytes:
        """Returns the key, read once per process, as it never changes. Raises ``Busy`` if it can't be read."""
        if self._key is None:
            try:
                self._key = self._reader.read(self._secret_id).encode()
            except SecretUnreadable as exc:
                self._log("callback key can't be read", action="secret_trouble", error=exc.code)
                raise errors.Busy from exc
        return self._key


def _code(exc: BaseException) -> str:
    code = exc.response.get("Error", {}).get("Code") if isinstance(exc, exceptions.ClientError) else None
    return str(code or type(exc).__name__)


def _is_being_deleted(exc: BaseException) -> bool:
    return _code(exc) == "InvalidRequestException" and "delet" in str(exc)


_secrets: type[Secrets] = SecretsManagerSecrets
_callback_key: type[CallbackKey] = SecretsManagerCallbackKey
