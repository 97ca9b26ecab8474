"""template.yaml as plain data, and the few questions that its checks ask of it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
GATEWAY, URL = FRONT_DOORS = ("ApiGateway", "FunctionUrl")
OWN_TABLE, BELL = "OwnTable", "HasBell"  # the conditions
_MADE_OF = (dict, list)

Template = dict[str, Any]
Properties = dict[str, Any]


class Loader(yaml.CSafeLoader):
    """YAML with CloudFormation's short forms: `!Ref x` is {"Ref": "x"}, `!GetAtt a.b` is {"Fn::GetAtt": ["a", "b"]}."""


def _short_form(loader: Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]  # the one kind that is left
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


Loader.add_multi_constructor("!", _short_form)


@cache
def _pickled() -> bytes:
    """Read again it is a copy, in a fraction of the time that another one takes."""
    return pickle.dumps(yaml.load((ROOT / "template.yaml").read_text(), Loader=Loader))


def load() -> Template:
    """The template; the caller may change what it gets."""
    template: Template = pickle.loads(_pickled())
    return template


def shaped(template: Template, front_door: str, *, own_table: bool = True) -> Template:
    """What is deployed with this front door and a bell, and with a table of its own or an existing one: without the
    resources and outputs that aren't, and with the branch of each `!If` that holds. Other parameters are left open."""
    conditions = {OWN_TABLE: own_table, BELL: True} | {
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
    if isinstance(value, dict):
        match value.get("Fn::If"):
            case [str(name), yes, no] if name in conditions:
                return _decided(yes if conditions[name] else no, conditions)
        # Most of it are texts, which need no call.
        return {key: _decided(each, conditions) if type(each) in _MADE_OF else each for key, each in value.items()}
    if isinstance(value, list):
        return [_decided(each, conditions) if type(each) in _MADE_OF else each for each in value]
    return value


def made(template: Template, **parameters: str) -> Template:
    """The template as CloudFormation deploys it with these parameters, and the defaults of all others. Every condition
    is decided."""
    values = {name: str(each["Default"]) for name, each in template["Parameters"].items()} | parameters
    conditions = {name: _holds(each, template, values) for name, each in template["Conditions"].items()}
    kept = {
        section: {
            name: {key: value for key, value in each.items() if key != "Condition"}
            for name, each in template[section].items()
            if conditions.get(each.get("Condition"), True)
        }
        for section in ("Resources", "Outputs")
    }
    found: Template = _without_no_value(_decided({**template, **kept}, conditions))
    del found["Conditions"]
    return found


def _holds(condition: Any, template: Template, values: dict[str, str]) -> bool:
    match condition:
        case {"Condition": str(name)}:
            return _holds(template["Conditions"][name], template, values)
        case {"Fn::Not": [inner]}:
            return not _holds(inner, template, values)
        case {"Fn::And": list(inner)}:
            return all(_holds(each, template, values) for each in inner)
        case {"Fn::Or": list(inner)}:
            return any(_holds(each, template, values) for each in inner)
        case {"Fn::Equals": [one, other]}:
            return _text(one, values) == _text(other, values)
    raise KeyError(str(condition))


def _text(value: Any, values: dict[str, str]) -> str:
    """The text of a value in a condition. A parameter that is a list is one text with commas."""
    match value:
        case {"Ref": str(name)}:
            return values[name]
        case {"Fn::Join": [_, inner]}:
            return _text(inner, values)
    return str(value)


def _without_no_value(value: Any) -> Any:
    """The value without its parts that are AWS::NoValue."""
    no_value = {"Ref": "AWS::NoValue"}
    match value:
        case dict():
            return {key: _without_no_value(each) for key, each in value.items() if each != no_value}
        case list():
            return [_without_no_value(each) for each in value if each != no_value]
    return value


def asked_for(value: Any) -> Iterator[str]:
    """Each logical id or parameter that is named."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": [str(text), dict(own)]}:
            yield from (name for name in asked_for({"Fn::Sub": text}) if name not in own)
            yield from asked_for(own)
        case {"Fn::Sub": str(text)}:
            yield from (part.split("}")[0].split(".")[0] for part in text.split("${")[1:])
        case dict():
            yield from (name for each in value.values() for name in asked_for(each))
        case list():
            yield from (name for each in value for name in asked_for(each))


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
