"""template.yaml as plain data, and the few questions that its checks ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
GATEWAY, URL = FRONT_DOORS = ("ApiGateway", "FunctionUrl")
OWN_TABLE = "OwnTable"  # the condition

Template = dict[str, Any]
Properties = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML with CloudFormation's short forms: `!Ref x` is {"Ref": "x"}, `!GetAtt a.b` is {"Fn::GetAtt": ["a", "b"]}."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]  # the one kind that is left
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)


@cache
def _parsed() -> Template:
    template: Template = yaml.load((ROOT / "template.yaml").read_text(), Loader=_Loader)
    return template


def load() -> Template:
    """The template; the caller may change what it gets."""
    return deepcopy(_parsed())


def shaped(template: Template, front_door: str, *, own_table: bool = True) -> Template:
    """What is deployed with this front door, and with a table of its own or an existing one: without the resources and
    outputs that aren't, and with the branch of each `!If` that holds. The other parameters are left open."""
    conditions = {OWN_TABLE: own_table} | {
        name: (answer == front_door)
        for name, condition in template["Conditions"].items()
        for answer in [_asked_of_front_door(condition, template)]
        if answer is not None
    }
    kept = {
        section: {name: each for name, each in template[section].items() if conditions.get(each.get("Condition"), True)}
        for section in ("Resources", "Outputs")
    }
    resolved: Template = _decided({**template, **kept}, conditions)
    return resolved


def _asked_of_front_door(condition: Any, template: Template) -> str | None:
    """The front door that a condition asks for, by itself or with others, which are left open."""
    match condition:
        case {"Fn::And": [{"Condition": str(name)}, *_]}:
            return _asked_of_front_door(template["Conditions"][name], template)
        case {"Fn::Equals": [{"Ref": "FrontDoor"}, str(value)]}:
            return value
    return None


def _decided(value: Any, conditions: dict[str, bool]) -> Any:
    match value:
        case {"Fn::If": [str(name), yes, no]} if name in conditions:
            return _decided(yes if conditions[name] else no, conditions)
        case dict():
            return {key: _decided(each, conditions) for key, each in value.items()}
        case list():
            return [_decided(each, conditions) for each in value]
    return value


def of_type(template: Template, kind: str) -> dict[str, Properties]:
    """The properties of every resource of this type, by logical id."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


def functions(template: Template) -> dict[str, Properties]:
    """Every function, with what Globals give to all of them."""
    common = template["Globals"]["Function"]
    return {name: common | own for name, own in of_type(template, "AWS::Serverless::Function").items()}


def environment(template: Template, function: str) -> dict[str, Any]:
    common = template["Globals"]["Function"]["Environment"]["Variables"]
    own = of_type(template, "AWS::Serverless::Function")[function].get("Environment", {}).get("Variables", {})
    return {**common, **own}


def events(template: Template, kind: str) -> Iterator[tuple[str, Properties]]:
    """Each (function, event's properties) of this type."""
    for name, function in functions(template).items():
        for event in function.get("Events", {}).values():
            if event["Type"] == kind:
                yield name, event["Properties"]


def role_of(template: Template, function: str) -> str | None:
    """The logical id of the role that a function names, if it names one of this template."""
    match functions(template)[function].get("Role"):
        case {"Fn::GetAtt": [role, "Arn"]} if role in of_type(template, "AWS::IAM::Role"):
            return str(role)
    return None


def statements(template: Template, role: str, effect: str = "Allow") -> Iterator[Properties]:
    """Those that it always has, and those of policies that a condition decides on."""
    policies = list(of_type(template, "AWS::IAM::Role")[role].get("Policies", []))
    policies += [
        each for each in of_type(template, "AWS::IAM::Policy").values() if {"Ref": role} in each.get("Roles", [])
    ]
    for policy in policies:
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == effect:
                yield statement


def grants(template: Template, function: str) -> set[tuple[str, str]]:
    """Each (action, resource) that a function may use; a resource as `Table.Arn` or as the text of its !Sub."""
    role = role_of(template, function)
    return {
        (action, name_of(resource))
        for statement in (statements(template, role) if role else ())
        for action in as_list(statement.get("Action", []))
        for resource in as_list(statement.get("Resource", []))
    }


def called(value: Any) -> str:
    """The function whose alias this is; whatever else it is, as ``name_of`` has it."""
    return name_of(value).removesuffix(".Alias")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def name_of(value: Any) -> str:
    match value:
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{name}.{attribute}"
        case {"Fn::Sub": str(text)}:
            return text
        case {"Ref": str(name)}:
            return name
    return str(value)
