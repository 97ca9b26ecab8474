"""`make adopt`: a restored table gets what AWS leaves out, and `make deploy` takes none that lacks any of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from support.fakes.dynamo import table_definition
from tools.admin import existing_table
from tools.admin.existing_table import adopt, refuse_unready
from tools.stack.background import StackError

NAME = "baton-restored"


@pytest.fixture
def dynamodb() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("dynamodb", region_name="us-east-1")


def restored(dynamodb: Any, **changes: Any) -> None:
    """As AWS restores it: with its items, indexes and encryption."""
    dynamodb.create_table(TableName=NAME, **{"SSESpecification": {"Enabled": True}, **table_definition(), **changes})


def with_indexes(*names: str) -> dict[str, Any]:
    found = [each for each in table_definition()["GlobalSecondaryIndexes"] if each["IndexName"] in names]
    used = {"pk", "sk"} | {key["AttributeName"] for each in found for key in each["KeySchema"]}
    attributes = [each for each in table_definition()["AttributeDefinitions"] if each["AttributeName"] in used]
    return {"GlobalSecondaryIndexes": found, "AttributeDefinitions": attributes}


def refused(dynamodb: Any, label: str = "", name: str = NAME, before: str = "", key: str = "") -> str:
    """Why a deployment is refused; empty if it isn't."""
    try:
        wanted = {"ExistingTable": name, "ExistingTableStream": label, "KmsKey": key}
        refuse_unready(dynamodb, wanted, {"ExistingTable": before} if before else {})
    except StackError as why:
        return str(why)
    return ""


def adopted(dynamodb: Any) -> tuple[str, list[str]]:
    said: list[str] = []
    return adopt(dynamodb, NAME, said.append, lambda _seconds: None), said


def test_a_restored_table_gets_what_aws_left_out_and_then_lacks_nothing(dynamodb: Any) -> None:
    restored(dynamodb)
    missing = ["no stream", "no deletion protection", "no TTL", "no point-in-time recovery"]
    assert refused(dynamodb).startswith(f"{NAME} has {', '.join(missing)}. `make adopt")
    label, said = adopted(dynamodb)
    assert said == [f"{NAME} has {what}: changing that" for what in missing]
    assert refused(dynamodb, label) == ""

    described = dynamodb.describe_table(TableName=NAME)["Table"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert described["DeletionProtectionEnabled"] is True
    assert dynamodb.describe_time_to_live(TableName=NAME)["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert adopted(dynamodb) == (label, []), "once more changes nothing"


def test_a_stream_that_isnt_the_tables_is_told_before_anything_is_deployed(dynamodb: Any) -> None:
    restored(dynamodb)
    label, _ = adopted(dynamodb)
    assert f"the stream {label}, not '2020-01-01T00:00:00.000'" in refused(dynamodb, "2020-01-01T00:00:00.000")
    assert f"the stream {label}, not ''" in refused(dynamodb)


def test_a_stack_doesnt_fall_back_to_an_empty_table(dynamodb: Any) -> None:
    assert refused(dynamodb, name="") == ""
    assert "with nothing in it; it works on baton-restored" in refused(dynamodb, name="", before=NAME)


def test_a_table_that_the_stacks_key_doesnt_encrypt_is_refused(dynamodb: Any) -> None:
    """Its functions may use that key alone."""
    key, other = (f"arn:aws:kms:us-east-1:111122223333:key/{each}" for each in ("ours", "theirs"))
    restored(dynamodb, SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key})
    label, _ = adopted(dynamodb)
    assert refused(dynamodb, label, key=key) == ""
    assert refused(dynamodb, label) == "", "a stack without one takes what the table has"
    why = f"{NAME} has no encryption under {other}. `make adopt TABLE={NAME} KMS_KEY={other}` makes it ready"
    assert refused(dynamodb, label, key=other) == why


@pytest.mark.parametrize("name", ["queue", "wake"])
def test_an_index_that_a_release_added_is_made_where_the_stack_makes_none(dynamodb: Any, name: str) -> None:
    (other,) = {"queue", "wake"} - {name}
    restored(dynamodb, **with_indexes(other))
    assert refused(dynamodb).startswith(f"{NAME} has no index {name}, ")
    adopted(dynamodb)
    described = dynamodb.describe_table(TableName=NAME)["Table"]["GlobalSecondaryIndexes"]
    assert {each["IndexName"] for each in described} == {"queue", "wake"}


def test_a_table_that_was_restored_with_a_capacity_is_paid_per_request(dynamodb: Any) -> None:
    capacity = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    indexes = [each | {"ProvisionedThroughput": capacity} for each in table_definition()["GlobalSecondaryIndexes"]]
    restored(dynamodb, BillingMode="PROVISIONED", ProvisionedThroughput=capacity, GlobalSecondaryIndexes=indexes)
    assert refused(dynamodb).startswith(f"{NAME} has a provisioned capacity, ")
    adopted(dynamodb)
    assert dynamodb.describe_table(TableName=NAME)["Table"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_no_other_table_is_taken(dynamodb: Any) -> None:
    assert "there is no table" in refused(dynamodb)
    dynamodb.create_table(
        TableName=NAME,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    with pytest.raises(StackError, match="isn't a table of Baton's"):
        adopted(dynamodb)


def test_an_index_of_the_same_name_that_shows_something_else_is_refused(dynamodb: Any) -> None:
    queue, wake = table_definition()["GlobalSecondaryIndexes"]
    restored(dynamodb, GlobalSecondaryIndexes=[queue | {"Projection": {"ProjectionType": "ALL"}}, wake])
    assert "an index queue that this release of Baton can't read" in refused(dynamodb)


def test_a_stream_of_something_else_is_refused(dynamodb: Any) -> None:
    restored(dynamodb, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    with pytest.raises(StackError, match="a stream of KEYS_ONLY"):
        adopted(dynamodb)


def test_the_program_says_what_to_deploy(
    dynamodb: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    restored(dynamodb)
    label, _ = adopted(dynamodb)
    monkeypatch.setenv("TABLE", NAME)
    assert existing_table.main() == 0
    assert f"make deploy PARAMS='ExistingTable={NAME} ExistingTableStream={label}'" in capsys.readouterr().out
    monkeypatch.delenv("TABLE")
    assert existing_table.main() == 1
    assert "which table" in capsys.readouterr().err
