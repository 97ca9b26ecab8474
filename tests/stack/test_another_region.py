"""The drill of docs/guides/another-region.md: what is exported every day becomes a table in another region, and a stack
there goes on with it. The local engine keeps regions apart and imports what AWS exports; it writes no export itself, so
this does, in AWS's format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.worlds.deployed import Client, until
from support.worlds.second_stack import SecondStack
from support.worlds.tenant import new_workspace
from tools.admin import existing_table
from tools.admin.deploy_answers import Parameters
from tools.stack import deployment

THERE, TABLE, BUCKET = "eu-west-1", "baton-from-elsewhere", "baton-exports"
KEYS = deployment.template()["Resources"]["Table"]["Properties"]
HASH_AND_RANGE = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]


def there(second: SecondStack, service: str) -> Any:
    return deployment.client(service, second.first.stack.access, region=THERE)


def exported(second: SecondStack) -> str:
    """Where in the bucket the table's items are."""
    s3, dynamo = there(second, "s3"), second.first.dynamo
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": THERE})
    pages = dynamo.get_paginator("scan").paginate(TableName=second.opened().stack.table)
    lines = [json.dumps({"Item": item}) + "\n" for page in pages for item in page["Items"]]
    prefix = f"{second.name}/AWSDynamoDB/01700000000000-a1b2c3d4/data/"
    s3.put_object(Bucket=BUCKET, Key=f"{prefix}a.json.gz", Body=gzip.compress("".join(lines).encode()))
    return prefix


def imported(second: SecondStack, prefix: str) -> Parameters:
    """The parameters of the stack that goes on with it."""
    dynamo = there(second, "dynamodb")
    begun = dynamo.import_table(
        S3BucketSource={"S3Bucket": BUCKET, "S3KeyPrefix": prefix},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters={
            "TableName": TABLE,
            "AttributeDefinitions": HASH_AND_RANGE,
            "KeySchema": KEYS["KeySchema"],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )["ImportTableDescription"]["ImportArn"]
    until(lambda: dynamo.describe_import(ImportArn=begun)["ImportTableDescription"]["ImportStatus"] == "COMPLETED")
    label = existing_table.adopt(dynamo, TABLE, print, lambda _seconds: None)
    return {"ExistingTable": TABLE, "ExistingTableStream": label}


@pytest.fixture(scope="module")
def elsewhere(second: SecondStack) -> Iterator[SecondStack]:
    """Nothing is there until the test deploys it. By a name of its own: of two stacks with one name in two regions, the
    engine makes the same roles."""
    made = SecondStack(second.first, name="baton-elsewhere", region=THERE)
    yield made
    cloudformation = there(second, "cloudformation")
    cloudformation.delete_stack(StackName=made.name)
    until(lambda: made.name not in str(cloudformation.describe_stacks()["Stacks"]))


def test_a_stack_in_another_region_goes_on_with_what_was_exported(second: SecondStack, elsewhere: SecondStack) -> None:
    tenant = new_workspace(second.opened(), sources=2)
    done, waiting = (tenant.approved(source_agent=each) for each in tenant.sources)
    claim = tenant.claim(done)
    tenant.reviewer.post(f"/tasks/{done}/complete", {"claim_id": claim["claim_id"], "output": {"done": True}})
    held = tenant.claim(waiting)
    asked = {"claim_id": held["claim_id"], "interaction_id": "job-1"}
    callback = tenant.reviewer.post(f"/tasks/{waiting}/wait-callback", asked)["callback"]["url"]
    prefix = exported(second)
    lost = tenant.needing()  # since the export

    # From here on nothing is asked of the first region: neither its table nor its secret.
    parameters = imported(second, prefix)
    given = " ".join(f"{name}={value}" for name, value in parameters.items())
    elsewhere.deploy(PARAMS=f"{given} DeletionProtection=false")
    made, out = _described(elsewhere)
    secrets = there(second, "secretsmanager")
    keys = {each["Name"] for each in secrets.list_secrets()["SecretList"] if "/callback-key-" in each["Name"]}
    (replica,) = keys - {secrets.describe_secret(SecretId=made["CallbackKey"])["Name"]}
    key = secrets.get_secret_value(SecretId=replica)["SecretString"]
    secrets.put_secret_value(SecretId=made["CallbackKey"], SecretString=key)

    with tenant.deployed.stack.http(timeout_seconds=45) as http:
        http.headers["Host"] = urlsplit(out["ApiUrl"]).netloc
        tokens = (tenant.human.token, tenant.reviewer.token, None)
        human, reviewer, nobody = (Client(http, each, tenant.human.ledger) for each in tokens)
        assert human.get(f"/tasks/{done}")["output"] == {"done": True}
        assert human.refused("GET", f"/tasks/{lost}") == (404, "not_found")
        assert human.get(f"/tasks/{done}/events/verify")["intact"]
        nobody.post(urlsplit(callback).path, {"passed": True})
        again = reviewer.post("/agents/reviewer/claims/wait?timeout=20", {})
        assert again["task"]["id"] == waiting
        reviewer.post(f"/tasks/{waiting}/complete", {"claim_id": again["claim_id"], "output": {"passed": True}})


def test_the_export_is_asked_for_every_day(second: SecondStack) -> None:
    scheduler = second.first.aws("scheduler")
    (schedule,) = [
        found
        for each in scheduler.list_schedules()["Schedules"]
        if "aws-sdk" in (found := scheduler.get_schedule(Name=each["Name"]))["Target"]["Arn"]
    ]
    assert schedule["Target"]["Arn"] == "arn:aws:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime"
    asked = json.loads(schedule["Target"]["Input"])
    described = second.first.dynamo.describe_table(TableName=second.opened().stack.table)["Table"]
    assert (asked["TableArn"], asked["S3Bucket"]) == (described["TableArn"], BUCKET)
    second.first.dynamo.export_table_to_point_in_time(**asked)  # the engine takes it as it is


def _described(stack: SecondStack) -> tuple[dict[str, str], dict[str, str]]:
    """The resources and outputs of the stack there."""
    cloudformation = there(stack, "cloudformation")
    found = cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    (described,) = cloudformation.describe_stacks(StackName=stack.name)["Stacks"]
    return (
        {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found},
        {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]},
    )
