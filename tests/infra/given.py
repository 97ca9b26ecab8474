"""What CloudFormation makes of the translated template with given parameters: conditions decided, references resolved.
A resource's reference is its logical id, an attribute `Logical.Attribute`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from infra.template import Properties, Template, load
from infra.translated import translated

STACK = "baton"
_PSEUDO = {"AWS::StackName": STACK, "AWS::Region": "us-east-1", "AWS::AccountId": "111122223333"}
_LEFT_OUT = {"Ref": "AWS::NoValue"}


@dataclass(frozen=True)
class Given:
    template: Template
    parameters: dict[str, str]

    def of_type(self, kind: str) -> dict[str, Properties]:
        """The properties of every resource of this type that there is, by logical id."""
        return {
            name: self._resolved(resource.get("Properties", {}))
            for name, resource in self.template["Resources"].items()
            if resource["Type"] == kind and ("Condition" not in resource or self._holds(resource["Condition"]))
        }

    def _holds(self, condition: Any) -> bool:
        match condition:
            case str(name) | {"Condition": str(name)}:
                return self._holds(self.template["Conditions"][name])
            case {"Fn::Not": [each]}:
                return not self._holds(each)
            case {"Fn::And": each}:
                return all(map(self._holds, each))
            case {"Fn::Or": each}:
                return any(map(self._holds, each))
            case {"Fn::Equals": [left, right]}:
                return str(self._resolved(left)) == str(self._resolved(right))
        raise NotImplementedError(str(condition))

    def _resolved(self, value: Any) -> Any:
        match value:
            case {"Fn::If": [str(name), yes, no]}:
                return self._resolved(yes if self._holds(name) else no)
            case {"Ref": str(name)}:
                return value if value == _LEFT_OUT else self.parameters.get(name, _PSEUDO.get(name, name))
            case {"Fn::GetAtt": [name, attribute]}:
                return f"{name}.{attribute}"
            case {"Fn::Sub": [str(text), dict(own)]}:
                return self._put_together(text, {name: self._resolved(each) for name, each in own.items()})
            case {"Fn::Sub": str(text)}:
                return self._put_together(text, {})
            case {"Fn::Join": [str(between), list(parts)]}:
                return between.join(str(self._resolved(each)) for each in parts)
            case dict():
                found = {key: self._resolved(each) for key, each in value.items()}
                return {key: each for key, each in found.items() if each != _LEFT_OUT}
            case list():
                return [each for each in map(self._resolved, value) if each != _LEFT_OUT]
        return value

    def _put_together(self, text: str, own: dict[str, Any]) -> str:
        return re.sub(r"\$\{([^}]+)\}", lambda found: str(own.get(found[1]) or self._resolved({"Ref": found[1]})), text)


def given(**parameters: str) -> Given:
    """With the template's defaults for all other parameters."""
    whole = _ours()
    defaults = {name: str(rule["Default"]) for name, rule in whole["Parameters"].items()}
    return Given(whole, defaults | parameters)


@cache
def _ours() -> Template:
    return translated(load())
