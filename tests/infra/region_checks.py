"""Promises about what is brought to another region every day (docs/guides/another-region.md)."""

from __future__ import annotations

import json
from typing import Any

from infra.data_checks import EXPORTS, RECOVERY_POINTS
from infra.register import Problems, check, check_whole
from infra.template import Template, as_list, name_of, of_type, statements

COPIED = ("BackupVault", "BackupPlan", "BackupSelection", "BackupRole")
EXPORTED = ("ExportSchedule", "ExportRole")
CONDITIONS = {
    **dict.fromkeys(COPIED, ("HasBackupCopy", "BackupCopyTo")),
    **dict.fromkeys(EXPORTED, ("HasExport", "ExportBucket")),
}
GRANTED = {
    "BackupRole": {
        *((f"dynamodb:{each}", "Table.Arn") for each in ("DescribeTable", "StartAwsBackupJob", "ListTagsOfResource")),
        *(
            (f"backup:{each}", vault)
            for each in ("DescribeBackupVault", "CopyFromBackupVault", "CopyIntoBackupVault")
            for vault in ("BackupVault.BackupVaultArn", "BackupCopyTo")
        ),
        ("backup:CopyFromBackupVault", RECOVERY_POINTS),
    },
    "ExportRole": {
        ("dynamodb:ExportTableToPointInTime", "Table.Arn"),
        ("s3:PutObject", EXPORTS),
        ("s3:AbortMultipartUpload", EXPORTS),
    },
}


@check_whole
def nothing_leaves_the_region_unasked(template: Template) -> Problems:
    for name, (condition, parameter) in CONDITIONS.items():
        if template["Resources"][name].get("Condition") != condition:
            yield f"{name} is there unasked"
        if template["Conditions"][condition] != {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]}:
            yield f"{condition} doesn't look at {parameter}"
    for parameter in ("BackupCopyTo", "ExportBucket", "ReplicaRegion"):
        if template["Parameters"][parameter]["Default"] != "":
            yield f"{parameter} is somewhere by default"


@check
def copies_are_made_every_day_and_kept_where_they_are_needed(template: Template) -> Problems:
    (rule,) = template["Resources"]["BackupPlan"]["Properties"]["BackupPlan"]["BackupPlanRule"]
    if not str(rule.get("ScheduleExpression")).endswith("* * ? *)"):
        yield "not every day"
    copies = rule.get("CopyActions", [])
    if [each.get("DestinationBackupVaultArn") for each in copies] != [{"Ref": "BackupCopyTo"}]:
        yield "the copy goes elsewhere"
    if not all(each["Lifecycle"]["DeleteAfterDays"] >= 35 for each in copies):
        yield "copies are forgotten before anybody has noticed"
    chosen = template["Resources"]["BackupSelection"]["Properties"]["BackupSelection"]
    if [name_of(each) for each in chosen["Resources"]] != ["Table.Arn"]:
        yield "another table is copied"


@check
def the_export_is_of_the_table_and_goes_to_the_bucket(template: Template) -> Problems:
    schedule = template["Resources"]["ExportSchedule"]["Properties"]
    target: dict[str, Any] = schedule["Target"]
    if name_of(target["Arn"]) != "arn:${AWS::Partition}:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime":
        yield "the schedule calls something else"
    if schedule.get("ScheduleExpression") != "rate(1 day)" or schedule.get("State") != "ENABLED":
        yield "not every day"
    text, names = target["Input"]["Fn::Sub"]
    wanted = {"TableArn": "${Arn}", "S3Bucket": "${ExportBucket}", "S3Prefix": "${AWS::StackName}"}
    if json.loads(text) != wanted | {"ExportFormat": "DYNAMODB_JSON"} or name_of(names["Arn"]) != "Table.Arn":
        yield f"exported is {text}"


@check
def who_copies_and_exports_may_do_nothing_else(template: Template) -> Problems:
    for role, wanted in GRANTED.items():
        found = {
            (action, name_of(resource))
            for statement in statements(template, role)
            for action in as_list(statement["Action"])
            for resource in as_list(statement["Resource"])
        }
        if found != wanted:
            yield f"{role} may {sorted(found ^ wanted)}"


@check
def who_copies_and_exports_may_use_the_key_that_encrypts_the_table(template: Template) -> Problems:
    """AWS Backup encrypts the vault's backups with it too."""
    for role, policy in (("BackupRole", "BackupKeyUse"), ("ExportRole", "KmsKeyUse")):
        wanted = {"Fn::If": ["HasKmsKey", [{"Ref": policy}], {"Ref": "AWS::NoValue"}]}
        if template["Resources"][role]["Properties"].get("ManagedPolicyArns") != wanted:
            yield f"{role} may not use the key of the parameter, or always another one"
    key = template["Resources"]["BackupKeyUse"]
    statements_of_key = key["Properties"]["PolicyDocument"]["Statement"]
    if key.get("Condition") != "BackupHasKey" or any(
        each["Resource"] != {"Ref": "KmsKey"} for each in statements_of_key
    ):
        yield "BackupKeyUse is there without a key, or is about another one"
    if not all(each.get("Condition") for each in statements_of_key):
        yield "BackupKeyUse lets the key be used for anything"


@check
def the_callback_key_is_there_too(template: Template) -> Problems:
    (secret,) = of_type(template, "AWS::SecretsManager::Secret").values()
    wanted = {"Fn::If": ["HasReplica", [{"Region": {"Ref": "ReplicaRegion"}}], {"Ref": "AWS::NoValue"}]}
    if secret.get("ReplicaRegions") != wanted:
        yield "the callback key is in one region alone, or somewhere unasked"
