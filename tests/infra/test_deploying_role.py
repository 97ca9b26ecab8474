"""docs/deploying-role.json has the rights that a deployment takes, and no others. AWS's registry says which rights each
type of resource takes; this file says which rights `make deploy`, `make remove` and sam use beside those."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch

from infra.account_checks import NAMED, known, names
from infra.citations import ROOT
from infra.registry import can_be_bound, described, rights
from infra.template import FRONT_DOORS, Properties, Template, load, made
from infra.translated import resolved, translated

TEXT = (ROOT / "docs/deploying-role.json").read_text(encoding="utf-8")
STATEMENTS = json.loads(TEXT)["Statement"]
ALLOWED = {action for statement in STATEMENTS for action in statement["Action"]}
MOST_CHARACTERS = 10_240  # of all inline policies of a role
WITH_EVERYTHING = {
    "KmsKey": "arn:key",
    "PermissionsBoundary": "arn:boundary",
    "ModelKeySecret": "arn:secret",
    "DomainName": "baton.example.com",
    "CertificateArn": "arn:certificate",
    "BackupCopyTo": "arn:vault",
    "ExportBucket": "exports",
    "ReplicaRegion": "eu-west-1",
}
# Rights of the registry that only a property takes that the template doesn't use, by the property.
NEEDLESS_WITHOUT = {
    "ApiGatewayV2::Api.BodyS3Location": "s3:getObject",
    "Backup::BackupVault.AccessPolicy": "backup:(Put|Delete)BackupVaultAccessPolicy",
    "Backup::BackupVault.LockConfiguration": "backup:(Put|Delete)BackupVaultLockConfiguration",
    "DynamoDB::Table.ContributorInsightsSpecification": "dynamodb:UpdateContributorInsights",
    "DynamoDB::Table.ImportSourceSpecification": "dynamodb:(ImportTable|DescribeImport)|s3:GetObjectMetadata"
    "|logs:(CreateLogStream|DescribeLogStreams|PutLogEvents)",
    "DynamoDB::Table.KinesisStreamSpecification": "dynamodb:(Enable|Disable|Update)KinesisStreamingDestination"
    "|kinesis:.*",
    "DynamoDB::Table.Replicas": "dynamodb:(Create|Associate)TableReplica|dynamodb:(Scan|Query|\\w+Item)"
    "|iam:CreateServiceLinkedRole|kms:(ListAliases|RevokeGrant)",
    "DynamoDB::Table.ResourcePolicy": "dynamodb:(Put|Delete)ResourcePolicy",
    "IAM::Policy.Groups": "iam:\\w+GroupPolicy",
    "IAM::Policy.Users": "iam:\\w+UserPolicy",
    "Lambda::Alias.ProvisionedConcurrencyConfig": "lambda:(Put|Delete)ProvisionedConcurrencyConfig",
    "Lambda::Alias.RoutingConfig": "codedeploy:.*",
    "Lambda::Function.CapacityProviderConfig": "lambda:(PassCapacityProvider|AssociateRuntimeAlias)",
    "Lambda::Function.CodeSigningConfigArn": "lambda:GetCodeSigningConfig|lambda:(Put|Delete)FunctionCodeSigningConfig",
    "Lambda::Function.FileSystemConfigs": "(elasticfilesystem|s3files):.*",
    "Lambda::Function.FunctionScalingConfig": "lambda:PutFunctionScalingConfig",
    "Lambda::Function.VpcConfig": "ec2:.*",
    "Logs::LogGroup.BearerTokenAuthenticationEnabled": "logs:PutBearerTokenAuthentication",
    "Logs::LogGroup.DataProtectionPolicy": "logs:PutDataProtectionPolicy|firehose:.*|s3:REST.PUT.OBJECT",
    "Logs::LogGroup.DeletionProtectionEnabled": "logs:PutLogGroupDeletionProtection",
    "Logs::LogGroup.FieldIndexPolicies": "logs:(Put|Delete)IndexPolicy",
    "Logs::LogGroup.ResourcePolicyDocument": "logs:DeleteResourcePolicy",
}
# Actions that KMS and AWS Backup don't have, and a right that takes a log group's retention away.
NEVER = "kms:ReEncrypt|backup-storage:Mount|logs:DeleteRetentionPolicy"
# Rights that no resource takes, with their use.
ASKED_BESIDE = {
    "budgets:.*": "the budget, which `make deploy` makes",
    "cloudformation:.*": "the stack's change sets, and its end",
    "events:List(Rules|TargetsByRule)": "`make remove` looks for rules",
    "lambda:GetAccountSettings": "`make deploy` looks how many functions may run",
    "lambda:List(Aliases|LayerVersions)": "`make deploy` removes old versions",
    "logs:\\w+LogDelivery|logs:ListLogDeliveries": "the gateway's access log",
    "s3:.*": "SAM's bucket, and what is uploaded there",
}
# The ARN of a resource with this name, by its type.
ARNS = {
    "AWS::Backup::BackupVault": "backup:us-east-1:111122223333:backup-vault:{}",
    "AWS::CloudWatch::Alarm": "cloudwatch:us-east-1:111122223333:alarm:{}",
    "AWS::CloudWatch::Dashboard": "cloudwatch::111122223333:dashboard/{}",
    "AWS::DynamoDB::Table": "dynamodb:us-east-1:111122223333:table/{}",
    "AWS::Events::EventBus": "events:us-east-1:111122223333:event-bus/{}",
    "AWS::IAM::ManagedPolicy": "iam::111122223333:policy/{}",
    "AWS::IAM::Role": "iam::111122223333:role/{}",
    "AWS::Lambda::Function": "lambda:us-east-1:111122223333:function:{}",
    "AWS::Lambda::LayerVersion": "lambda:us-east-1:111122223333:layer:{}",
    "AWS::Logs::LogGroup": "logs:us-east-1:111122223333:log-group:{}",
    "AWS::SQS::Queue": "sqs:us-east-1:111122223333:{}",
    "AWS::Scheduler::Schedule": "scheduler:us-east-1:111122223333:schedule/default/{}",
    "AWS::SecretsManager::Secret": "secretsmanager:us-east-1:111122223333:secret:{}",
}
# Their ARN has an id of AWS's and no name, or they are rights on another resource.
IDS = {"AWS::ApiGatewayV2::Api", "AWS::Backup::BackupPlan", "AWS::Logs::MetricFilter"}


def deployments() -> list[Template]:
    return [made(load(), FrontDoor=front_door, **WITH_EVERYTHING) for front_door in FRONT_DOORS]


def resources() -> Iterator[tuple[str, Properties]]:
    """Yields the type and the resource, for each resource of each deployment."""
    for each in deployments():
        yield from ((resource["Type"], resource) for resource in translated(each)["Resources"].values())


def needed() -> dict[str, str]:
    """Returns the rights that the registry names for the template's types, each with one of the types."""
    return {right: kind for kind in sorted({kind for kind, _ in resources()}) for right in rights(kind)}


def test_it_allows_to_create_change_tag_and_delete_every_resource() -> None:
    needless = "|".join([*NEEDLESS_WITHOUT.values(), NEVER])
    assert {
        right: kind for right, kind in needed().items() if right not in ALLOWED and not re.fullmatch(needless, right)
    } == {}


def test_no_property_of_the_template_takes_a_right_that_is_left_out() -> None:
    used = {
        f"{kind.removeprefix('AWS::')}.{name}"
        for kind, resource in resources()
        for name in resource.get("Properties", ())
    }
    assert used & NEEDLESS_WITHOUT.keys() == set()
    for place, pattern in NEEDLESS_WITHOUT.items():
        assert any(re.fullmatch(pattern, right) for right in needed()), place
        assert not any(re.fullmatch(pattern, right) for right in ALLOWED), place


def test_every_right_in_it_has_a_use() -> None:
    beside = "|".join(ASKED_BESIDE)
    assert {right for right in ALLOWED - needed().keys() if not re.fullmatch(beside, right)} == set()
    assert all(any(re.fullmatch(each, right) for right in ALLOWED) for each in ASKED_BESIDE)
    assert not any("*" in right for right in ALLOWED)


def test_its_resources_are_those_of_one_stack() -> None:
    for template in deployments():
        given = {logical_id: resolved(name, known("baton")) for logical_id, name, _ in names(template)}
        for logical_id, resource in translated(template)["Resources"].items():
            kind = resource["Type"]
            if kind in ARNS:
                arn = f"arn:aws:{ARNS[kind].format(given.get(logical_id, f'baton-{logical_id}-1A2B3C'))}"
                own = {right for right in ALLOWED & rights(kind) if right.split(":")[0] == arn.split(":")[2]}
                for right in filter(can_be_bound, own):
                    assert any(fnmatch(arn, place) for place in places(right)), (arn, right)
    assert ARNS.keys() | IDS == NAMED.keys()


def places(right: str) -> list[str]:
    found = [statement["Resource"] for statement in STATEMENTS if right in statement["Action"]]
    return [place for each in found for place in ([each] if isinstance(each, str) else each)]


def test_every_right_that_can_be_bound_to_a_resource_is() -> None:
    (unbound,) = [statement["Action"] for statement in STATEMENTS if "*" in statement["Resource"]]
    assert not any(can_be_bound(right) for right in unbound)


def test_it_fits_into_a_roles_inline_policies() -> None:
    longest = TEXT.replace("baton", "b" * 42)
    assert len(re.sub(r"\s", "", longest)) <= MOST_CHARACTERS


def test_the_page_says_what_takes_no_tags() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"AWS tags no ([^;]*);", page)
    untagged = {
        kind.rpartition("::")[2] for kind, _ in resources() if not described(kind).get("tagging", {}).get("taggable")
    }
    assert set(re.findall(r"`(\w+)`", told)) == untagged
