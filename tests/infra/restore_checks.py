"""Promises about a table that was there before the stack, which a restore makes (docs/operations.md), and about what
stays when a stack goes."""

from __future__ import annotations

from typing import Any

from infra.register import Problems, check_whole
from infra.template import FRONT_DOORS, OWN_TABLE, Template, asked_for, of_type, shaped
from infra.translated import translated

NAME, LABEL = "ExistingTable", "ExistingTableStream"
ARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${ExistingTable}"
STREAM = f"{ARN}/stream/${{ExistingTableStream}}"
# What of the template holds data, or what nobody can make again.
KEPT = {"AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::Backup::BackupVault"}


@check_whole
def an_existing_table_is_taken_wherever_the_own_one_would_be(template: Template) -> Problems:
    """Rights, settings, mapping, alarms, dashboard, outputs: all are the same but for the table's name."""
    for front_door in FRONT_DOORS:
        own, given = (shaped(template, front_door, own_table=own) for own in (True, False))
        for section in ("Globals", "Resources", "Outputs"):
            for name, each in _on_the_existing_table(own[section]).items():
                if name != "Table" and each != given[section].get(name):
                    yield f"{name} with {front_door} isn't on the existing table"


def _on_the_existing_table(value: Any) -> Any:
    match value:
        case {"Ref": "Table"}:
            return {"Ref": NAME}
        case {"Fn::GetAtt": ["Table", "Arn"]}:
            return {"Fn::Sub": ARN}
        case {"Fn::GetAtt": ["Table", "StreamArn"]}:
            return {"Fn::Sub": STREAM}
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": text.replace("${Table.Arn}", ARN)}
        case dict():
            return {key: _on_the_existing_table(each) for key, each in value.items()}
        case list():
            return [_on_the_existing_table(each) for each in value]
    return value


@check_whole
def there_is_one_table(template: Template) -> Problems:
    """Its own, or the existing one: then CloudFormation makes none, and nothing asks for one."""
    if template["Conditions"].get(OWN_TABLE) != {"Fn::Equals": [{"Ref": NAME}, ""]}:
        yield f"{OWN_TABLE} doesn't follow {NAME}"
    for front_door in FRONT_DOORS:
        given = translated(shaped(template, front_door, own_table=False))
        if of_type(given, "AWS::DynamoDB::Table"):
            yield "a table is made beside the existing one"
        for name, resource in (given["Resources"] | given["Outputs"]).items():
            if "Table" in asked_for(resource):
                yield f"{name} asks for a table that isn't made"


@check_whole
def an_existing_table_comes_with_its_stream(template: Template) -> Problems:
    """One without the other is refused before anything is changed."""
    rules = [
        (rule.get("RuleCondition"), [each["Assert"] for each in rule["Assertions"]])
        for rule in template.get("Rules", {}).values()
    ]
    for one, other in ((NAME, LABEL), (LABEL, NAME)):
        if (_is_given(one), [_is_given(other)]) not in rules:
            yield f"{one} may be given without {other}"
    for parameter in (NAME, LABEL):
        if template["Parameters"][parameter]["Default"] != "":
            yield f"{parameter} is somebody's by default"


def _is_given(parameter: str) -> dict[str, Any]:
    return {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]}


@check_whole
def data_outlives_the_stack_but_not_a_creation_that_failed(template: Template) -> Problems:
    for name, resource in translated(template)["Resources"].items():
        if resource["Type"] not in KEPT:
            continue
        if resource.get("DeletionPolicy") != "RetainExceptOnCreate":
            yield f"{name} goes with the stack, or stays after a creation that failed"
        if resource.get("UpdateReplacePolicy") != "Retain":
            yield f"{name} is lost when it is replaced"
