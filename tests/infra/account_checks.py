"""Promises of the translated template about an account that is shared: with other stacks of Baton, and with others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from infra.register import Problems, check
from infra.template import Template
from infra.translated import resolved, translated
from tools.admin.deploy_answers import LONGEST_STACK_NAME

# Of each type: the property that names it within its account and region, and how long AWS lets the name be.
NAMED = {
    "AWS::ApiGatewayV2::Api": ("Name", 128),
    "AWS::Backup::BackupPlan": ("BackupPlan.BackupPlanName", 50),
    "AWS::Backup::BackupVault": ("BackupVaultName", 50),
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::CloudWatch::Dashboard": ("DashboardName", 255),
    "AWS::DynamoDB::Table": ("TableName", 255),
    "AWS::Events::EventBus": ("Name", 256),
    "AWS::IAM::ManagedPolicy": ("ManagedPolicyName", 128),
    "AWS::IAM::Role": ("RoleName", 64),
    "AWS::Lambda::Function": ("FunctionName", 64),
    "AWS::Lambda::LayerVersion": ("LayerName", 140),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::Logs::MetricFilter": ("FilterName", 512),
    "AWS::SQS::Queue": ("QueueName", 80),
    "AWS::Scheduler::Schedule": ("Name", 64),
    "AWS::SecretsManager::Secret": ("Name", 512),
}
# Parts of what has a name; their own names, if any, are within it.
UNNAMED = {
    "AWS::ApiGatewayV2::ApiMapping",
    "AWS::ApiGatewayV2::DomainName",  # whoever deploys gives it, and two stacks can't have it
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",
    "AWS::Backup::BackupSelection",
    "AWS::IAM::Policy",
    "AWS::Lambda::Alias",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Url",
    "AWS::Lambda::Version",
}


def known(stack: str) -> dict[str, str]:
    return {
        "AWS::StackName": stack,
        "AWS::StackId": f"arn:aws:cloudformation:us-east-1:111122223333:stack/{stack}/{UUID(int=0)}",
        "AWS::Region": "us-east-1",
        "AWS::AccountId": "111122223333",
    }


def names(template: Template) -> Iterator[tuple[str, Any, int]]:
    """Each (logical id, name, longest) of a resource whose name is given. CloudFormation makes up the others, with the
    stack's name in them and as long as AWS takes."""
    for logical_id, resource in translated(template)["Resources"].items():
        path, longest = NAMED.get(resource["Type"], ("", 0))
        name: Any = resource.get("Properties", {})
        for step in path.split("."):
            name = name.get(step) if name else None
        if name is not None:
            yield logical_id, name, longest


@check
def every_kind_of_resource_is_known_to_have_a_name_or_none(template: Template) -> Problems:
    kinds = {resource["Type"] for resource in translated(template)["Resources"].values()}
    if unknown := kinds - NAMED.keys() - UNNAMED:
        yield f"have {sorted(unknown)} names that another stack could have too?"


@check
def two_stacks_share_no_name(template: Template) -> Problems:
    for logical_id, name, _ in names(template):
        if resolved(name, known("theirs")) == resolved(name, known("ours")):
            yield f"{logical_id} has one name in every stack"


@check
def names_fit_with_the_longest_stack_name(template: Template) -> Problems:
    lengths = {
        logical_id: (len(resolved(name, known("x" * LONGEST_STACK_NAME))), longest)
        for logical_id, name, longest in names(template)
    }
    for logical_id, (length, longest) in lengths.items():
        if length > longest:
            yield f"{logical_id}'s name is refused by AWS: {length} of {longest} characters"


@check
def two_stacks_share_no_metric(template: Template) -> Problems:
    """Else the heartbeat of one stack's sweeper hides that another's is silent."""
    for logical_id, resource in translated(template)["Resources"].items():
        for space in _namespaces(resource):
            if not space.startswith("AWS/") and "Baton/${AWS::StackName}" not in space:
                yield f"{logical_id} counts in {space}, as every other stack does"


def _namespaces(value: Any) -> Iterator[str]:
    """Of metrics: where functions count, what alarms watch, what a dashboard shows."""
    match value:
        case dict():
            for key, each in value.items():
                if key in {"Namespace", "MetricNamespace", "POWERTOOLS_METRICS_NAMESPACE"}:
                    yield str(each)
                else:
                    yield from _namespaces(each)
        case list():
            for each in value:
                yield from _namespaces(each)
        case str():
            yield from re.findall(r'\[\s*"((?:AWS|Baton)[^"]*)"', value)
