"""Promises of template.yaml about two demands of a company's account: each role has a permissions boundary, and the
company's own key encrypts all data."""

from __future__ import annotations

import re
from typing import Any

from infra.data_checks import ROLE
from infra.register import Problems, check
from infra.registry import described
from infra.template import Template, functions, grants, of_type, role_of
from infra.translated import translated

NONE = {"Ref": "AWS::NoValue"}
BOUNDARY = {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundary"}, NONE]}
KEY = {"Fn::If": ["HasKmsKey", {"Ref": "KmsKey"}, NONE]}
KEY_USE = {"Fn::If": ["HasKmsKey", [{"Ref": "KmsKeyUse"}], NONE]}
KEPT_BY = ("dynamodb", "sqs", "secretsmanager")
# Types that could take a key of KMS and need none, with what they hold.
WITHOUT_DATA = {
    "AWS::Lambda::Function": "an environment of names and addresses",
    "AWS::Lambda::EventSourceMapping": "a filter",
    "AWS::Scheduler::Schedule": "an empty input",
}


@check
def every_role_is_bounded(template: Template) -> Problems:
    """The roles that SAM makes for schedules are included. An account that demands a boundary refuses other roles."""
    for name, role in of_type(translated(template), ROLE).items():
        if role.get("PermissionsBoundary") != BOUNDARY:
            yield f"{name} has no boundary"


@check
def the_key_encrypts_all_data(template: Template) -> Problems:
    """Each property that can name a key of KMS names the parameter's. Types in ``WITHOUT_DATA`` are exempt."""
    for name, resource in translated(template)["Resources"].items():
        if resource["Type"] in WITHOUT_DATA:
            continue
        for place in described(resource["Type"])["properties"]:
            if (
                re.fullmatch("(Kms(Master)?|Encryption)Key(Id|Arn|Identifier)?", place)
                and resource["Properties"].get(place) != KEY
            ):
                yield f"{name} isn't encrypted with the key of the parameter"


@check
def roles_that_reach_encrypted_data_may_use_the_key(template: Template) -> Problems:
    """Only through the services that store the data. CloudWatch Logs and EventBridge have their right from the key's
    policy."""
    for function in functions(template):
        role = of_type(template, ROLE)[role_of(template, function) or ""]
        reaches = any(action.partition(":")[0] in KEPT_BY for action, _ in grants(template, function))
        if role.get("ManagedPolicyArns", NONE) != (KEY_USE if reaches else NONE):
            yield f"{function} must have the right to use the key exactly if it reaches table, queues or secrets"
    through = [{"Fn::Sub": f"{service}.${{AWS::Region}}.${{AWS::URLSuffix}}"} for service in KEPT_BY]
    wanted: dict[str, Any] = {
        "Effect": "Allow",
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Resource": {"Ref": "KmsKey"},
        "Condition": {"StringEquals": {"kms:ViaService": through}},
    }
    if of_type(template, "AWS::IAM::ManagedPolicy")["KmsKeyUse"]["PolicyDocument"]["Statement"] != [wanted]:
        yield "KmsKeyUse allows other uses of the key than the services need"


@check
def key_and_boundary_are_optional(template: Template) -> Problems:
    for parameter in ("KmsKey", "PermissionsBoundary"):
        if template["Parameters"][parameter]["Default"] != "":
            yield f"{parameter} has a default"
