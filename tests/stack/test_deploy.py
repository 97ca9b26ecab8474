"""`make deploy` against the local engine: a second stack beside another, and the same once more."""

from __future__ import annotations

import json

from support.worlds.deployed import Deployed
from support.worlds.second_stack import NAME, SecondStack, resources
from tools.stack import deployment
from tools.stack.engine import REGION

ACCOUNT = "000000000000"  # the engine's
# Parameters that a stack may get later, and that change nothing that the other tests of this stack look at. (The engine
# has no AWS::Backup::BackupSelection, so no BackupCopyTo.)
OTHERS = {
    "Events": "off",
    "TicketTopicArn": f"arn:aws:sns:us-east-1:{ACCOUNT}:tickets",
    "WarmWrites": "4000",
    "WarmReads": "12000",
    "WarmIndexWrites": "4000",
    "DomainName": "third.example.com",
    "CertificateArn": f"arn:aws:acm:us-east-1:{ACCOUNT}:certificate/1234abcd-12ab-34cd-56ef-1234567890ab",
    "ReplicaRegion": "us-west-2",
}


def test_a_second_stack_stands_beside_the_first_and_a_second_deployment_changes_nothing(
    first: Deployed, second: SecondStack
) -> None:
    others = resources(first, deployment.STACK_NAME)
    given, made, tags = second.parameters(), second.resources(), second.described()["Tags"]
    assert (given["LogLevel"], given["DeletionProtection"], given["WaitConcurrency"]) == ("DEBUG", "false", "50")
    assert all(f"{each}=50" in second.said for each in ("WaitConcurrency", "McpConcurrency"))
    assert {each["Key"]: each["Value"] for each in tags} == {"application": "baton", "stack": NAME, "team": "agents"}
    part = {"HttpStage", "BellliveStage"}  # each within its API
    assert {made[name] for name in made.keys() - part}.isdisjoint(others.values())

    gateway = first.aws("apigatewayv2")
    (mapped,) = gateway.get_api_mappings(DomainName="second.example.com")["Items"]
    assert (mapped["ApiId"], mapped["Stage"]) == (made["HttpApi"], "$default")
    (domain,) = gateway.get_domain_name(DomainName="second.example.com")["DomainNameConfigurations"]
    assert domain["CertificateArn"] == given["CertificateArn"]

    assert "No changes to deploy" in second.deploy()
    assert (second.parameters(), second.resources(), second.described()["Tags"]) == (given, made, tags)
    assert resources(first, deployment.STACK_NAME) == others

    assert budget(second) == 50, "nothing was said, and it stays"


def test_what_is_changed_reaches_a_stack_that_is_there_with_no_other_rights_than_the_documents(
    first: Deployed, second: SecondStack
) -> None:
    assert "AccessDenied" in second.refused(STACK="baton-third"), "the rights are those of one stack"
    given, made = second.parameters(), second.resources()
    key, boundary = key_of_kms(first), boundary_of_roles(first)
    wanted = {"LogLevel": "ERROR", "KmsKey": key, "PermissionsBoundary": boundary, "MonthlyBudget": "0"} | OTHERS
    second.deploy(PARAMS=" ".join(f"{name}={value}" for name, value in wanted.items()))
    assert second.parameters() == given | wanted | {"Release": second.parameters()["Release"]}
    live = first.aws("lambda").get_function_configuration(FunctionName=made["Api"], Qualifier="live")
    assert live["Environment"]["Variables"]["BATON_LOG_LEVEL"] == "ERROR"  # it reaches those who call
    assert live["Environment"]["Variables"]["BATON_SECRETS_KMS"] == key
    assert encrypted_with(second) == dict.fromkeys(("table", "queue", "log", "secret"), key)
    role = live["Role"].rpartition("/")[2]
    (attached,) = first.aws("iam").list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    assert attached["PolicyArn"] == second.resources()["KmsKeyUse"]
    assert budget(second) is None
    (mapped,) = first.aws("apigatewayv2").get_api_mappings(DomainName="third.example.com")["Items"]
    assert mapped["ApiId"] == second.resources()["HttpApi"]
    publisher = first.aws("lambda").get_function_configuration(FunctionName=made["PublishEvents"], Qualifier="live")
    assert publisher["Environment"]["Variables"]["BATON_EVENTS"] == "off"


def budget(of: SecondStack) -> float | None:
    """Its dollars, if there is one."""
    budgets = of.first.aws("budgets")
    try:
        found = budgets.describe_budget(AccountId=ACCOUNT, BudgetName=f"{NAME}-{REGION}")
    except budgets.exceptions.NotFoundException:
        return None
    return float(found["Budget"]["BudgetLimit"]["Amount"])


def key_of_kms(of: Deployed) -> str:
    return str(of.aws("kms").create_key()["KeyMetadata"]["Arn"])


def boundary_of_roles(of: Deployed) -> str:
    """(The engine lets no stack bound a role. What the template asks for, tests/infra says.)"""
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    made = of.aws("iam").create_policy(PolicyName="bound", PolicyDocument=json.dumps(allowed))
    return str(made["Policy"]["Arn"])


def encrypted_with(of: SecondStack) -> dict[str, str]:
    """The key of what the stack keeps. (The engine says of no bus which one it has.)"""
    made, aws = of.resources(), of.first.aws
    table = aws("dynamodb").describe_table(TableName=made["Table"])["Table"]
    queue = aws("sqs").get_queue_attributes(QueueUrl=made["TrackerDeadLetters"], AttributeNames=["All"])["Attributes"]
    (log,) = aws("logs").describe_log_groups(logGroupNamePrefix=made["ApiLogs"])["logGroups"]
    secret = aws("secretsmanager").describe_secret(SecretId=made["CallbackKey"])
    return {
        "table": table["SSEDescription"]["KMSMasterKeyArn"],
        "queue": queue["KmsMasterKeyId"],
        "log": log["kmsKeyId"],
        "secret": secret["KmsKeyId"],
    }
