"""Tokens in AWS Secrets Manager: whose they are, how old they may be, and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from baton.adapters.secrets import SecretsManagerSecrets
from baton.domain.errors import Busy

PREFIX = "baton-test"


class Meddled:
    """The client, with errors to come, by call; counts the calls."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.errors: dict[str, list[Exception]] = {}
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            self.calls.append(name)
            if self.errors.get(name):
                raise self.errors[name].pop(0)
            return getattr(self.client, name)(**request)

        return call


@pytest.fixture
def client() -> Iterator[Meddled]:
    with mock_aws():
        yield Meddled(boto3.client("secretsmanager"))


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def secrets(client: Meddled, lines: list[dict[str, Any]]) -> SecretsManagerSecrets:
    return SecretsManagerSecrets(client, PREFIX, lambda message, **fields: lines.append({"message": message, **fields}))


def refusal(code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutSecretValue")


def test_a_token_is_read_as_it_was_put(secrets: SecretsManagerSecrets) -> None:
    secrets.put("acme", "ntn_fake_1")
    assert secrets.get("acme") == "ntn_fake_1"


def test_each_workspace_has_its_own_secret(secrets: SecretsManagerSecrets, client: Meddled) -> None:
    secrets.put("acme", "ntn_fake_1")
    secrets.put("globex", "ntn_fake_2")
    assert (secrets.get("acme"), secrets.get("globex")) == ("ntn_fake_1", "ntn_fake_2")
    names = {secret["Name"] for secret in client.client.list_secrets()["SecretList"]}
    assert names == {"baton-test/acme/notion", "baton-test/globex/notion"}


def test_a_secret_is_made_with_the_deployments_key_if_there_is_one(client: Meddled) -> None:
    for workspace, key in (("acme", "arn:aws:kms:us-east-1:111122223333:key/ours"), ("globex", "")):
        SecretsManagerSecrets(client, PREFIX, print, key).put(workspace, "ntn_fake_1")
        assert client.client.describe_secret(SecretId=f"baton-test/{workspace}/notion").get("KmsKeyId", "") == key


@pytest.mark.parametrize("workspace", ["", "acme/notion", "../globex", "a b", "acme\n"])
def test_no_workspace_can_name_anothers_secret(secrets: SecretsManagerSecrets, workspace: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        secrets.get(workspace)
    with pytest.raises(ValueError, match=r"^"):
        secrets.put(workspace, "ntn_fake_1")


def test_a_missing_token_is_none_and_found_as_soon_as_somebody_puts_it(
    secrets: SecretsManagerSecrets, client: Meddled
) -> None:
    assert secrets.get("acme") is None
    SecretsManagerSecrets(client, PREFIX, print).put("acme", "ntn_fake_1")
    assert secrets.get("acme") == "ntn_fake_1"


def test_a_token_is_kept_for_a_while_unless_asked_for_afresh(secrets: SecretsManagerSecrets, client: Meddled) -> None:
    secrets.put("acme", "ntn_fake_1")
    secrets.get("acme")
    SecretsManagerSecrets(client, PREFIX, print).put("acme", "ntn_fake_2")
    assert secrets.get("acme") == "ntn_fake_1"
    assert secrets.get("acme", afresh=True) == "ntn_fake_2"
    assert secrets.get("acme") == "ntn_fake_2"
    assert client.calls.count("get_secret_value") == 2


def test_who_puts_a_token_reads_it_at_once(secrets: SecretsManagerSecrets) -> None:
    secrets.put("acme", "ntn_fake_1")
    secrets.get("acme")
    secrets.put("acme", "ntn_fake_2")
    assert secrets.get("acme") == "ntn_fake_2"


def test_a_token_that_was_taken_away_is_forgotten_when_asked_for_afresh(
    secrets: SecretsManagerSecrets, client: Meddled
) -> None:
    secrets.put("acme", "ntn_fake_1")
    secrets.get("acme")
    client.client.delete_secret(SecretId="baton-test/acme/notion", ForceDeleteWithoutRecovery=True)
    assert secrets.get("acme", afresh=True) is None
    assert secrets.get("acme") is None


def test_two_first_puts_at_once_both_succeed(secrets: SecretsManagerSecrets, client: Meddled) -> None:
    secrets.put("acme", "ntn_fake_1")
    client.errors["put_secret_value"] = [refusal("ResourceNotFoundException")]  # as it was before the other's creation
    secrets.put("acme", "ntn_fake_2")
    assert secrets.get("acme", afresh=True) == "ntn_fake_2"
    assert client.calls[-4:-1] == ["put_secret_value", "create_secret", "put_secret_value"]


def test_a_secret_that_is_being_deleted_says_so_when_written_and_is_missing_when_read(
    secrets: SecretsManagerSecrets, client: Meddled, lines: list[dict[str, Any]]
) -> None:
    secrets.put("acme", "ntn_fake_1")
    client.client.delete_secret(SecretId="baton-test/acme/notion", RecoveryWindowInDays=7)
    assert secrets.get("acme", afresh=True) is None
    client.errors["put_secret_value"] = [
        refusal("InvalidRequestException", "It was marked for deletion.")
    ]  # moto: isn't
    with pytest.raises(Busy, match="scheduled for deletion: restore it"):
        secrets.put("acme", "ntn_fake_2")
    assert "ntn_fake" not in str(lines)


@pytest.mark.parametrize(
    "error",
    [
        refusal("InternalServiceError"),
        refusal("ThrottlingException"),
        refusal("AccessDeniedException"),
        EndpointConnectionError(endpoint_url="https://secretsmanager.invalid"),
    ],
)
def test_what_aws_cant_do_now_is_busy(
    secrets: SecretsManagerSecrets, client: Meddled, lines: list[dict[str, Any]], error: Exception
) -> None:
    client.errors = {"put_secret_value": [error], "get_secret_value": [error]}
    with pytest.raises(Busy):
        secrets.put("acme", "ntn_fake_1")
    with pytest.raises(Busy):
        secrets.get("acme")
    assert [line["action"] for line in lines] == ["secret_trouble"] * 2
    assert "ntn_fake" not in str(lines)
